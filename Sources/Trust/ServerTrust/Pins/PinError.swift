/// Why pins cannot be used.
public enum PinError: Error, Hashable, Sendable {
    /// The text is no pin.
    case notAPin(String)
    /// A pin set without pins would trust nobody.
    case empty
    /// There is one pin alone: when its key is lost or stolen, no client can be reached any more.
    case backupPinMissing
}

extension PinError: CustomStringConvertible {
    /// What is wrong, and what to do.
    public var description: String {
        switch self {
        case .notAPin(let text):
            "\"\(text)\" is no pin: write sha256/ and the 44 characters of Base64 that stand for the SHA-256 of the key"
        case .empty: "the pin set is empty: give two pins at least"
        case .backupPinMissing:
            "the pin set has one pin and no backup: add the pin of a key that is kept elsewhere, or say that none is wanted"
        }
    }
}
