import CommandLineSupport

/// The sentence and the exit status of an ``ExitMessage``.
struct Refusal: Hashable {
    let text: String
    let status: ExitMessage.Status

    init(_ text: String, _ status: ExitMessage.Status = .usage) {
        (self.text, self.status) = (text, status)
    }

    /// The refusal that a closure throws; nil if the closure returns. Another error appears with its description.
    static func of<Value>(_ body: () throws -> Value) -> Refusal? {
        do {
            _ = try body()
            return nil
        } catch let error as ExitMessage {
            return Refusal(error.text, error.status)
        } catch {
            return Refusal("not an exit message: \(error)")
        }
    }
}
