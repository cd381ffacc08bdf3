/// Collects what answers the requests of one exchange, for a tap.
struct RequestWitness {
    private let tap: any NetlinkTap
    private let requests: [ArraySlice<UInt8>]
    private var answers: [[UInt8]]

    init(_ tap: any NetlinkTap, _ request: RequestBuilder) {
        self.tap = tap
        requests = Array(NetlinkMessages(request.bytes))
        answers = Array(repeating: [], count: requests.count)
    }

    /// A message that answers the request at `index`, head included.
    mutating func take(_ message: UnsafeRawBufferPointer, at index: Int) {
        guard answers.indices.contains(index) else { return }
        answers[index] += message
        while answers[index].count & 3 != 0 { answers[index].append(0) }
    }

    /// Tells the tap, in the order of the requests; `failure` is why there are no further answers.
    func tell(_ failure: NetlinkError? = nil) {
        for (request, answer) in zip(requests, answers) {
            tap.asked(Array(request), failure.map(Result.failure) ?? .success(answer))
        }
    }
}
