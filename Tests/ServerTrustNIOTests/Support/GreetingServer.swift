import NIOSSL
import NetworkLab
import TrustForge
import WebLab

extension ScriptedServer {
    /// A TLS server that sends `hello` after the handshake.
    static func greeting(
        _ chain: Forged...,
        versions: ClosedRange<Int> = 2...3,
        protocols: [String] = [],
        clientAnchors: [Forged] = []
    ) throws -> ScriptedServer {
        try greeting(
            with: .server(chain, versions: versions, protocols: protocols, clientAnchors: clientAnchors)
        )
    }

    static func greeting(with context: NIOSSLContext) throws -> ScriptedServer {
        try .perConnection(coder: TLSCoder.layer(context)) { connection in
            connection.send("hello")
            connection.waitForEnd()
        }
    }
}
