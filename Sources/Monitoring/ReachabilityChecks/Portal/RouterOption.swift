package import LinuxSupport

/// An option of a router advertisement that the kernel leaves to programs (RFC 4861, section 4.6).
package enum RouterOption: Hashable, Sendable {
    /// Option 37: where to ask whether the network is captive (RFC 8910).
    case captivePortal(String)
    /// Option 25: servers, and for how many seconds (RFC 8106).
    case nameServers([WireAddress], lifetime: UInt32)
    /// Option 38: the prefix of NAT64 (RFC 8781), and for how many seconds.
    case translationPrefix(AddressPrefix, lifetime: UInt32)
}

extension RouterOption {
    /// Options one after the other, each with its length in units of eight bytes; those that cannot be read are left out.
    package static func read(_ bytes: some Collection<UInt8>) -> [RouterOption] {
        var (options, rest): ([RouterOption], ArraySlice<UInt8>) = ([], Array(bytes)[...])
        while let kind = rest.first, rest.count >= 8 {
            let length = Int(rest[rest.startIndex + 1]) * 8
            guard length > 0, length <= rest.count else { break }
            let content = Array(rest.dropFirst(2).prefix(length - 2))
            if let option = option(kind, content) { options.append(option) }
            rest = rest.dropFirst(length)
        }
        return options
    }

    private static func option(_ kind: UInt8, _ content: [UInt8]) -> RouterOption? {
        switch kind {
        case 37:
            let text = content.prefix { $0 != 0 }
            // A URI is plain ASCII without blanks (RFC 3986), and zeroes fill the rest.
            guard !text.isEmpty, text.allSatisfy({ 0x21...0x7e ~= $0 }),
                content.dropFirst(text.count).allSatisfy({ $0 == 0 })
            else { return nil }
            return .captivePortal(String(decoding: text, as: UTF8.self))
        case 25:
            guard content.count >= 22, (content.count - 6) % 16 == 0 else { return nil }
            let addresses = stride(from: 6, to: content.count, by: 16).compactMap {
                WireAddress(bytes: content[$0..<($0 + 16)])
            }
            return .nameServers(addresses, lifetime: content[2..<6].reduce(0) { $0 << 8 | UInt32($1) })
        case 38:
            let lengths = [96, 64, 56, 48, 40, 32]
            guard content.count == 14, Int(content[1] & 7) < lengths.count,
                let address = WireAddress(bytes: content[2..<14] + [0, 0, 0, 0])
            else { return nil }
            // Thirteen bits of eight seconds.
            let lifetime = (UInt32(content[0]) << 8 | UInt32(content[1] & 0xf8))
            return .translationPrefix(AddressPrefix(address, length: lengths[Int(content[1] & 7)]), lifetime: lifetime)
        default:
            return nil
        }
    }
}
