public import FoundationEssentials
public import ReachabilityRequests

/// A request whose answer is read event by event. An element that cannot be read is an event, and so is the end.
///
/// ```swift
/// for await stream in session.streamRequest("https://example.org/log").streamTask().streamingStrings() {
///     print(stream.value ?? "the end")
/// }
/// ```
///
/// A request has one reader. If there is another, the only event is the end, with `AFError.sessionTaskFailed(error:)`. The request is
/// cancelled when the loop is left. If `shouldAutomaticallyCancel` is false, another loop can continue, without the elements that the first
/// one has not taken of its last piece. A cancelled task cancels the request in any case.
public struct DataStreamTask: Sendable {
    private let request: DataStreamRequest

    fileprivate init(_ request: DataStreamRequest) { self.request = request }

    /// Returns a sequence of the pieces, followed by the end.
    public func streamingData(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> some AsyncSequence<DataStreamRequest.Stream<Data, Never>, Never> & Sendable {
        EventSequence(request: request, decoder: .data, cancels: shouldAutomaticallyCancel)
    }

    /// Returns a sequence of UTF-8 text in whole characters, followed by the end.
    public func streamingStrings(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> some AsyncSequence<DataStreamRequest.Stream<String, Never>, Never> & Sendable {
        EventSequence(request: request, decoder: .strings, cancels: shouldAutomaticallyCancel)
    }

    /// Returns a sequence of the values, one per line, followed by the end.
    public func streamingDecodables<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        using decoder: any DataDecoder = JSONDecoder(),
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> some AsyncSequence<DataStreamRequest.Stream<Value, AFError>, Never> & Sendable {
        let serializer = DecodableStreamSerializer<Value>(decoder: decoder)
        return EventSequence(request: request, decoder: request.pieces(serializer), cancels: shouldAutomaticallyCancel)
    }

    /// Returns a sequence of the values of a serializer, followed by the end.
    public func streamingResponses<Serializer: DataStreamSerializer>(
        serializedUsing serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> some AsyncSequence<DataStreamRequest.Stream<Serializer.SerializedObject, AFError>, Never> & Sendable {
        EventSequence(request: request, decoder: request.pieces(serializer), cancels: shouldAutomaticallyCancel)
    }

    /// Cancels the request.
    public func cancel() { request.cancel() }
    /// Sends the request, or continues it.
    public func resume() { request.resume() }
    /// Suspends the request.
    public func suspend() { request.suspend() }
}

extension DataStreamRequest {
    /// Returns a task that reads the request event by event.
    public func streamTask() -> DataStreamTask { DataStreamTask(self) }
}

/// The events of a request, with elements made of its pieces.
private struct EventSequence<Value: Sendable, Refusal: RequestFailure>: AsyncSequence, Sendable {
    let request: DataStreamRequest
    let decoder: PieceDecoder<Value, Refusal>
    let cancels: Bool

    func makeAsyncIterator() -> Iterator {
        Iterator(request: request, base: StreamReader(request, decoder, cancels: cancels))
    }

    struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate let request: DataStreamRequest
        fileprivate var base: StreamReader<Value, Refusal>
        private var isOver = false

        fileprivate init(request: DataStreamRequest, base: StreamReader<Value, Refusal>) {
            (self.request, self.base) = (request, base)
        }

        mutating func next(isolation: isolated (any Actor)?) async -> DataStreamRequest.Stream<Value, Refusal>? {
            guard !isOver else { return nil }
            if let element = await base.next() { return DataStreamRequest.Stream(.stream(element), of: request) }
            isOver = true
            let taken = base.isReader ? nil : request.completionOfOther
            return (taken ?? request.completion).map { DataStreamRequest.Stream(.complete($0), of: request) }
        }
    }
}
