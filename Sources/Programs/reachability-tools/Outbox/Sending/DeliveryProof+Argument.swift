import CommandLineSupport
import LinuxSupport
import ReachabilityOutbox
import ReachabilityRetry

extension DeliveryProof {
    /// Reads `status=N`, `header=NAME: VALUE` or `body=TEXT`.
    ///
    /// - Throws: ``ExitMessage`` for another text.
    init(argument: String) throws {
        let parts = argument.split(at: "=", maxSplits: 1).map(String.init)
        switch (parts.first, parts.count > 1 ? parts[1] : "") {
        case ("status", let text):
            if let status = Int(text), 200..<300 ~= status {
                self = .status(status)
                return
            }
        case ("header", let text):
            let sides = text.split(at: ":", maxSplits: 1)
            if sides.count == 2 {
                self = .header(.init(name: String(sides[0]), value: String(sides[1].drop { $0 == " " })))
                return
            }
        case ("body", let text) where !text.isEmpty:
            self = .body(text)
            return
        default: break
        }
        let forms = "status=N from 200 to 299, header=NAME: VALUE or body=TEXT"
        throw ExitMessage("cannot expect \"\(argument.printable)\": write \(forms)", .usage)
    }
}
