import CommandLineSupport
import Glibc
import LinuxSupport
import NIOCore
import NIOPosix
import NIOSSL

extension ExitMessage {
    /// No connection came about.
    init(connectingTo server: ServerAddress, _ error: any Error) {
        guard let error = error as? NIOConnectionError else {
            let advice = "see `reachability why \(server.host)`"
            self.init("cannot connect to \(server): \(Self.cause(error)): \(advice)", .unavailable)
            return
        }
        guard let failure = error.connectionErrors.first?.error else {
            self.init(
                "cannot find an address of \(server.host): the name service knows none: is it written right?",
                .unavailable
            )
            return
        }
        let advice = "is a server running there, and what does `reachability why \(server.host)` say?"
        self.init("cannot connect to \(server): \(Self.cause(failure)): \(advice)", .unavailable)
    }

    /// The server has shown no certificate.
    init(shakingHandsWith server: ServerAddress, _ error: any Error) {
        self.init(
            "\(server) shows no certificate: \(Self.cause(error).printable): does it speak TLS 1.2 or later on this port?",
            .unavailable
        )
    }

    /// The server has shown a certificate, and the handshake has failed after it.
    init(unprovenBy server: ServerAddress, _ error: any Error) {
        self.init(
            """
            \(server) shows a certificate, but the TLS handshake failed: \(Self.cause(error).printable): nothing proves that it has \
            the certificate's key, so nothing is said of it (a server of TLS 1.2 that wants a client's certificate ends so too)
            """,
            .unavailable
        )
    }

    private static func cause(_ error: any Error) -> String {
        switch error {
        case let error as IOError: unsafe String(cString: strerror(error.errnoCode))
        case ChannelError.eof, NIOSSLError.uncleanShutdown: "it closed the connection"
        case NIOSSLError.handshakeFailed(let error): reason(of: error)
        case let error as BoringSSLError: reason(of: error)
        default: "\(error)"
        }
    }

    /// The TLS library's reason in its own words: its errors read `error:100000f7:SSL routines:...:WRONG_VERSION_NUMBER`, with
    /// where in its source behind.
    private static func reason(of error: BoringSSLError) -> String {
        let text = "\(error)"
        if text.contains("EOF during handshake") { return "it closed the connection" }
        let words = text.split { !($0.isUppercase || $0.isNumber || $0 == "_") }
        let reason = words.last { $0.contains("_") && $0.first?.isUppercase == true && $0.count > 4 }
        return reason.map { $0.lowercased().replacing(scalars: "_", with: " ") } ?? text
    }
}
