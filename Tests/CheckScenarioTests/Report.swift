import LinuxSupport
import Testing

/// Prints the verdict and the cost of each run at the end. The times are only printed, not tested.
struct Report: SuiteTrait, TestScoping {
    private static let lines = Locked<[String]>([])

    static func add(_ test: SituationCase, _ command: CheckCommand, sent: Int) {
        guard let line = command.line else { return }
        let time = line.milliseconds.map { ", \($0) ms" } ?? ""
        let cost = "\(line.cost.packets) packets (\(sent) at the router), \(line.cost.bytes) bytes\(time)"
        lines.withLock {
            $0.append(
                "\(test.testDescription): \(line.place) \(line.reason ?? "-") \(line.confidence), \(cost): \(line.text)"
            )
        }
    }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let start = ContinuousClock.now
        try await function()
        let lines = Self.lines.withLock(\.self)
        print("Checks: \(lines.count) in \((.now - start).components.seconds) s")
        for line in lines.sorted() { print("  \(line)") }
    }
}

extension Trait where Self == Report {
    static var report: Self { Report() }
}
