import Foundation
import NetworkLab

/// One line of `reachability status --json` and `reachability watch --json`.
struct StatusLine: Decodable {
    let schema: Int
    let time: String
    let monotonicNanoseconds: UInt64
    let target: String?
    let status: String
    let connectionType: String?
    let flags: [String]
    let interface: String?
    let interfaceType: String?
    let gateway: String?
    let source: String?
    let reason: String?
    let generation: UInt64

    init(parsing text: some StringProtocol) throws {
        do {
            self = try JSONDecoder().decode(StatusLine.self, from: Data(text.utf8))
        } catch {
            throw LabError("not a status line: \(text) (\(error))")
        }
        if let contradiction { throw LabError("\(contradiction): \(text)") }
        guard schema == 1, time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil else {
            throw LabError("not a status line of schema 1: \(text)")
        }
    }

    /// What is compared with the truth.
    var said: Expectation { Expectation(status: status, connectionType: connectionType) }

    /// What of the line contradicts the rest of it.
    private var contradiction: String? {
        let isReachable = status == "reachable"
        let rules = [
            "reachable without the flag": isReachable && !flags.contains("reachable"),
            "reachable with a reason": isReachable && reason != nil,
            "reachable without interface, source or type": isReachable
                && (interface == nil || source == nil || connectionType == nil),
            "not reachable without a reason": status == "notReachable" && reason == nil,
            "not reachable with a type": !isReachable && connectionType != nil,
            "type and flag differ": isReachable && (connectionType == "wwan") != flags.contains("isWWAN"),
            "direct with a gateway": flags.contains("isDirect") && gateway != nil,
        ]
        return rules.first(where: \.value)?.key
    }

    /// The clock that `monotonicNanoseconds` is read from.
    static func monotonicNanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
