import Netlink

extension PathMonitor {
    /// Asks the kernel a question on the calling thread that needs no network: for the route to 127.0.0.1. Nothing counts as a change.
    ///
    /// - Returns: Whether it answered, whatever that was. In a namespace that is gone there is nobody to ask, which its targets tell: that
    ///   is an answer, too.
    package func answers() -> Bool {
        do throws(NetlinkError) {
            _ = try answering { judge throws(MissingAnswers) in try judge.evaluate(Self.question) }
            return true
        } catch {
            return error.stage == .namespace
        }
    }

    private static let question = EvaluationSubject(.any([IPAddress("127.0.0.1")].compactMap(\.self)))
}
