import LinuxSupport
package import NetworkReachability
package import ReachabilityService

/// An address and a port to listen at: without TLS of the loopback, which only this machine can reach.
package struct ListenAddress: Hashable, Sendable {
    package let address: IPAddress
    package let port: UInt16
    /// Whether it is listened at with TLS.
    package let isSecured: Bool

    /// Where the service listens if nothing else is said.
    package static let standard = "127.0.0.1:9672"

    /// Reads `127.0.0.1:9672`, `[::1]:9672` or `localhost:9672`.
    ///
    /// - Throws: ``ListenError`` for another text, and without TLS for an address that others can reach.
    package init(_ text: String, isSecured: Bool = false) throws(ListenError) {
        let bracketed = text.hasPrefix("[")
        guard let colon = text.unicodeScalars.lastIndex(of: ":"),
            let port = UInt16(text[text.unicodeScalars.index(after: colon)...])
        else {
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
        try self.init(address, port: port, isSecured: isSecured)
    }

    /// - Throws: ``ListenError`` without TLS for an address that others can reach.
    package init(_ address: IPAddress, port: UInt16, isSecured: Bool = false) throws(ListenError) {
        (self.address, self.port, self.isSecured) = (address, port, isSecured)
        let what = "cannot listen at \(text(port: Int(port)).printable)"
        guard address.zone == nil else {
            throw ListenError(.usage, "\(what): name an address that is good without an interface, [::] for all")
        }
        guard isSecured || address.isLoopback else {
            let why = "others could ask without saying who they are"
            throw ListenError(
                .usage,
                "\(what): \(why): name an address of the loopback, or say listen.https in the configuration"
            )
        }
    }

    /// `127.0.0.1`, or `[::1]`, with the port that was given.
    package func text(port: Int) -> String {
        address.isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
    }

    /// That of its URL.
    package var scheme: String { isSecured ? "https" : "http" }
}

extension ListenAddress {
    /// - Throws: All that is wrong with the addresses of a configuration.
    package static func check(_ listen: ServiceConfiguration.Listen) throws(ConfigurationProblems) {
        var problems: [ConfigurationProblem] = []
        for (key, texts, isSecured) in [("http", listen.http, false), ("https", listen.https, true)] {
            for (index, text) in (texts ?? []).enumerated() {
                do throws(ListenError) { _ = try ListenAddress(text, isSecured: isSecured) } catch {
                    problems.append(ConfigurationProblem(path: "listen.\(key)[\(index + 1)]", text: error.text))
                }
            }
        }
        guard problems.isEmpty else { throw ConfigurationProblems(problems) }
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
