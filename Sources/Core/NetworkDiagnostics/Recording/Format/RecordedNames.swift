package import LinuxPrimitives

/// What a name service answered.
package enum RecordedNames: Hashable, Sendable {
    case addresses([NameLookup.Address])
    case noSuchName
    case unavailable(String)

    package init(_ result: Result<[NameLookup.Address], NameLookup.Failure>) {
        switch result {
        case .success(let addresses): self = .addresses(addresses)
        // Nothing is judged differently for either.
        case .failure(.noSuchName), .failure(.noAddress): self = .noSuchName
        case .failure(.unavailable(let text)): self = .unavailable(text)
        }
    }

    package var result: Result<[NameLookup.Address], NameLookup.Failure> {
        switch self {
        case .addresses(let addresses): .success(addresses)
        case .noSuchName: .failure(.noSuchName)
        case .unavailable(let text): .failure(.unavailable(text))
        }
    }
}

extension RecordedNames {
    func encode(to encoder: inout ByteEncoder) {
        switch self {
        case .addresses(let addresses):
            encoder.add(0)
            encoder.add(addresses)
        case .noSuchName: encoder.add(1)
        case .unavailable(let text):
            encoder.add(2)
            encoder.add(text)
        }
    }

    init(from decoder: inout ByteDecoder) throws(ByteDecoder.Malformed) {
        switch try decoder.byte() {
        case 0: self = .addresses(try decoder.addresses())
        case 1: self = .noSuchName
        case 2: self = .unavailable(try decoder.text())
        default: throw ByteDecoder.Malformed()
        }
    }
}
