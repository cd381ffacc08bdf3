package import LinuxPrimitives
import NetworkReachability

/// Where a socket listens that was handed over: the same rules hold there as for those the service makes itself.
package struct InheritedPlace: Hashable, Sendable {
    /// Whether only processes of this machine can reach it, and the system says whose.
    package let isLocal: Bool
    /// As people write it.
    package let text: String

    /// - Throws: ``ListenError`` for an address that others can reach.
    package init(_ socket: ListeningSocket) throws(ListenError) {
        switch socket.place {
        case .local(let path):
            (isLocal, text) = (true, path.isEmpty ? "a socket without a name" : path.printable)
        case .internet(let address, let port):
            isLocal = false
            text = "http://\(try ListenAddress(IPAddress(address), port: port).text(port: Int(port)))/"
        }
    }
}
