import LinuxSupport
import Netlink

// Values as notes contain them. No part contains the separator.

extension NetlinkError {
    var recorded: String { "\(cause.rawValue) \(stage) \(attempt)" }

    /// Decodes an error; nil for the empty text of a success.
    init?(recorded text: String) {
        let stages: [Substring: Stage] = ["namespace": .namespace, "socket": .socket, "filter": .filter]
        let words = text.split(at: " ", maxSplits: 2)
        guard words.count == 3, let number = CInt(words[0]), let stage = stages[words[1]] else { return nil }
        self.init(String(words[2]), SystemError(rawValue: number), stage: stage)
    }
}

extension Link {
    var recorded: String { "\(index)/\(name)" }
}

extension LinkHardware {
    var recorded: String {
        let numbers = [wireless?.rawValue, lowerIndex].map { $0.map { "\($0)" } ?? "" }
        return (numbers + [deviceType ?? "", driver ?? ""]).joined(separator: "/")
    }

    init?(recorded text: String) {
        let parts = text.split(at: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        self.init(
            wireless: UInt32(parts[0]).map(WirelessRole.init),
            deviceType: parts[2].isEmpty ? nil : String(parts[2]),
            driver: parts[3].isEmpty ? nil : String(parts[3]),
            lowerIndex: UInt32(parts[1])
        )
    }
}

extension TunnelFarEnd {
    /// The text in place of far ends that this process may not see.
    static let unknown = "unknown"

    /// The address, empty for none, the firewall mark and the prefixes.
    fileprivate var recorded: String {
        let prefixes = (accepted ?? []).map { "\($0.address)/\($0.length)" }
        return ([address?.description ?? "", "\(mark)"] + prefixes).joined(separator: ",")
    }

    fileprivate init?(recorded text: Substring) {
        let parts = text.split(at: ",", omittingEmptySubsequences: false)
        guard parts.count >= 2, let mark = UInt32(parts[1]) else { return nil }
        let address = WireAddress(String(parts[0]))
        guard address != nil || parts[0].isEmpty else { return nil }
        var prefixes: [AddressPrefix] = []
        for part in parts.dropFirst(2) {
            let halves = part.split(at: "/", maxSplits: 1)
            guard halves.count == 2, let address = WireAddress(String(halves[0])), let length = UInt8(halves[1]),
                Int(length) <= address.family.bitCount
            else { return nil }
            prefixes.append(AddressPrefix(address, length: Int(length)))
        }
        self.init(address, accepting: prefixes, mark: mark)
    }
}

extension [TunnelFarEnd] {
    var recorded: String { map(\.recorded).joined(separator: " ") }

    /// Decodes far ends; nil if they are not known.
    init?(recorded text: String) {
        self = []
        for word in text.split(at: " ") {
            guard let end = TunnelFarEnd(recorded: word) else { return nil }
            append(end)
        }
    }
}

extension [NameLookup.Address] {
    var recorded: String {
        map { address in "\(address.address)" + (address.zone.map { "%\($0)" } ?? "") }.joined(separator: " ")
    }

    init?(recorded text: String) {
        self = []
        for word in text.split(at: " ") {
            let parts = word.split(at: "%", maxSplits: 1)
            guard let address = parts.first.flatMap({ WireAddress(String($0)) }) else { return nil }
            append(NameLookup.Address(address, zone: parts.count == 2 ? UInt32(parts[1]) : nil))
        }
    }
}

extension Result<[NameLookup.Address], NameLookup.Failure> {
    private static let noSuchName = "no such name"

    var recorded: String {
        switch self {
        case .success(let addresses): addresses.recorded
        // No decision depends on the difference.
        case .failure(.noSuchName), .failure(.noAddress): Self.noSuchName
        case .failure(.unavailable(let text)): "unavailable: \(text)"
        }
    }

    /// Decodes a result. Text that cannot be decoded counts as a failure of the name service.
    init(recorded text: String) {
        if text == Self.noSuchName {
            self = .failure(.noSuchName)
        } else if let addresses = [NameLookup.Address](recorded: text) {
            self = .success(addresses)
        } else {
            self = .failure(.unavailable(text.replacing(scalars: "unavailable: ", with: "", maxReplacements: 1)))
        }
    }
}
