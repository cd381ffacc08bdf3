/// What is wrong with the text a host is given by.
package enum HostError: Error, Hashable {
    /// The text is neither a host name nor an address literal.
    case invalid(String)
    /// A link-local IPv6 address says nothing without the interface it is meant on.
    case zoneRequired(String)

    /// Checks the name or the address literal of a host.
    package static func check(_ host: String) throws(HostError) {
        if let address = AddressLiteral(host) {
            if address.wire.needsZone, address.zone == nil { throw .zoneRequired(address.wire.description) }
        } else if !HostName.isValid(host) {
            throw .invalid(host)
        }
    }
}

extension HostError: CustomStringConvertible {
    /// One sentence: what is wrong, and what to do.
    package var description: String {
        switch self {
        case .invalid(let text) where !HostName.isEncodable(text):
            "\"\(text.printable)\" cannot be encoded as a host name (IDNA): labels of other scripts have letters, digits and"
                + " hyphens only; give it as xn-- labels if it has such a form"
        case .invalid(let text):
            "\"\(text.printable)\" is neither a host name nor an address: give a name such as example.org or an address such as"
                + " 192.0.2.1 or 2001:db8::1, without scheme, port or brackets"
        case .zoneRequired(let text):
            "\(text.printable) is link-local and needs the interface it is meant on: write \(text.printable)%eth0, for example"
        }
    }
}
