package import LinuxSupport
import NetworkReachability

/// Where a socket listens that was handed over: the same rules hold there as for those the service makes itself.
package struct InheritedPlace: Hashable, Sendable {
    /// Over what is asked there.
    package let transport: Transport
    /// As people write it.
    package let text: String

    /// - Parameter isSecured: Whether TLS is spoken there.
    /// - Throws: ``ListenError`` without TLS for an address that others can reach.
    package init(_ socket: ListeningSocket, isSecured: Bool = false) throws(ListenError) {
        switch socket.place {
        case .local(let path):
            (transport, text) = (.local, path.isEmpty ? "a socket without a name" : path.printable)
        case .internet(let address, let port):
            let address = try ListenAddress(IPAddress(address), port: port, isSecured: isSecured)
            (transport, text) = (
                isSecured ? .secured : .loopback, "\(address.scheme)://\(address.text(port: Int(port)))/"
            )
        }
    }
}

/// Over what the service is asked.
package enum Transport: Hashable, Sendable {
    /// A Unix socket: only processes of this machine can reach it, and the system says whose.
    case local
    /// TCP of the loopback.
    case loopback
    /// TLS.
    case secured
}
