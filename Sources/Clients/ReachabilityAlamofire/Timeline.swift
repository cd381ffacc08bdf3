import FoundationEssentials
public import ReachabilityRequests

/// The times of a request, as in Alamofire 4: seconds since 2001-01-01T00:00:00Z, and durations in seconds.
public struct Timeline: Hashable, Sendable {
    /// The time when the request began.
    public let requestStartTime: Double
    /// The time when the answer began; that of the end if there was no answer.
    public let initialResponseTime: Double
    /// The time when the request had its result.
    public let requestCompletedTime: Double
    /// The time when the result was serialized.
    public let serializationCompletedTime: Double

    /// Creates a timeline.
    public init(
        requestStartTime: Double = 0,
        initialResponseTime: Double = 0,
        requestCompletedTime: Double = 0,
        serializationCompletedTime: Double = 0
    ) {
        self.requestStartTime = requestStartTime
        self.initialResponseTime = initialResponseTime
        self.requestCompletedTime = requestCompletedTime
        self.serializationCompletedTime = serializationCompletedTime
    }

    /// The time from the beginning of the request until the beginning of the answer.
    public var latency: Double { initialResponseTime - requestStartTime }
    /// The time from the beginning of the request until its result.
    public var requestDuration: Double { requestCompletedTime - requestStartTime }
    /// The duration of the serializer.
    public var serializationDuration: Double { serializationCompletedTime - requestCompletedTime }
    /// The time from the beginning of the request until the end of the serializer.
    public var totalDuration: Double { serializationCompletedTime - requestStartTime }
}

extension Timeline: CustomStringConvertible, CustomDebugStringConvertible {
    private func text(_ times: [(String, Double)]) -> String {
        times.map { name, time in
            let milliseconds = Int((time * 1000).rounded())
            return "\(name) \(Double(milliseconds) / 1000) s"
        }
        .joined(separator: ", ")
    }

    private var durations: [(String, Double)] {
        [
            ("latency", latency), ("request", requestDuration), ("serialization", serializationDuration),
            ("total", totalDuration),
        ]
    }

    /// The durations in seconds, with milliseconds.
    public var description: String { text(durations) }

    /// The times and durations in seconds, with milliseconds.
    public var debugDescription: String {
        let times = [
            ("start", requestStartTime), ("answer", initialResponseTime), ("result", requestCompletedTime),
            ("serialized", serializationCompletedTime),
        ]
        return text(times + durations)
    }
}

extension DataResponse {
    /// The times of the request, its answer and its serializer; all zero if the request was not sent.
    public var timeline: Timeline {
        guard let metrics else { return Timeline() }
        let start = metrics.startDate.timeIntervalSinceReferenceDate
        let end = start + metrics.duration / .seconds(1)
        return Timeline(
            requestStartTime: start,
            initialResponseTime: metrics.timeToHead.map { start + $0 / .seconds(1) } ?? end,
            requestCompletedTime: end,
            serializationCompletedTime: end + serializationDuration
        )
    }
}
