import LinuxPrimitives
package import NetworkReachability

/// An address and a port to listen at, on this machine alone.
package struct ListenAddress: Hashable, Sendable {
    package let address: IPAddress
    package let port: UInt16

    /// Where the service listens if nothing else is said.
    package static let standard = "127.0.0.1:9672"

    /// Reads `127.0.0.1:9672`, `[::1]:9672` or `localhost:9672`.
    ///
    /// - Throws: ``ListenError`` for another text, and for an address that others can reach.
    package init(_ text: String) throws(ListenError) {
        let bracketed = text.hasPrefix("[")
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw ListenError(
                .usage,
                "\"\(text.printable)\" is no address to listen at: write \(Self.standard), for example"
            )
        }
        var host = String(text[..<colon])
        if bracketed, host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host == "localhost" { host = "127.0.0.1" }
        guard let address = IPAddress(host), address.isIPv6 == bracketed else {
            throw ListenError(
                .usage,
                "\"\(text.printable)\" is no address to listen at: write \(Self.standard), for example"
            )
        }
        try self.init(address, port: port)
    }

    /// - Throws: ``ListenError`` for an address that others can reach.
    package init(_ address: IPAddress, port: UInt16) throws(ListenError) {
        (self.address, self.port) = (address, port)
        guard address.isLoopback, address.zone == nil else {
            let why = "only this machine may ask, for nobody else has to say who they are yet"
            let text = text(port: Int(port)).printable
            throw ListenError(.usage, "cannot listen at \(text): \(why): name an address of the loopback")
        }
    }

    /// `127.0.0.1`, or `[::1]`, with the port that was given.
    package func text(port: Int) -> String {
        address.isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}

/// Why the service cannot listen, in one sentence.
package struct ListenError: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// What was asked for cannot be.
        case usage
        /// Somebody else has it.
        case taken
        /// This user may not.
        case denied
        /// The system does not let it.
        case failed
    }

    package let kind: Kind
    package let text: String

    package init(_ kind: Kind, _ text: String) {
        (self.kind, self.text) = (kind, text)
    }

    /// A call that failed.
    init(_ what: String, _ error: SystemError) {
        let kind: Kind = [.accessDenied, .notPermitted].contains(error) ? .denied : .failed
        self.init(kind, "\(what): \(error)")
    }
}
