import LinuxSupport
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ServerTrust

extension TrustedHTTPFailure {
    /// What an error of the layers below means.
    init(_ error: any Error, _ stage: TrustedHTTPStage, _ target: FlightTarget) {
        switch error {
        case let failure as TrustedHTTPFailure: self = failure
        case let error as ServerTrustError: self = .untrusted(error)
        case ChannelError.connectTimeout:
            let limit = target.settings.connectTimeLimit
            self = .connectTimedOut(host: target.host, port: target.port, limit: limit)
        case let error as NIOConnectionError: self.init(error, target)
        case let error as HTTPParserError: self.init(error, stage, target)
        case let error as NIOHTTPDecoderError: self = Self.malformed("\(error)", stage)
        case ChannelError.eof, ChannelError.inputClosed, ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed,
            NIOSSLError.uncleanShutdown:
            self = .connectionClosed(stage)
        case _ where stage == .connecting:
            self = .unreachable(host: target.host, port: target.port, cause: Self.cause(error))
        case _ where stage == .handshake: self = .handshakeFailed(cause: "\(error)")
        default: self = .connectionFailed(stage, cause: "\(error)")
        }
    }

    private init(_ error: NIOConnectionError, _ target: FlightTarget) {
        let failures = error.connectionErrors.map { "\($0.target): \(Self.cause($0.error))" }
        let lookup = error.dnsAAAAError ?? error.dnsAError
        if failures.isEmpty, let lookup {
            let cause = (lookup as? SocketAddressError.UnknownHost)?.errorDescription ?? "\(lookup)"
            self = .unresolved(host: target.host, cause: cause)
        } else {
            self = .unreachable(host: target.host, port: target.port, cause: failures.joined(separator: "; "))
        }
    }

    private init(_ error: HTTPParserError, _ stage: TrustedHTTPStage, _ target: FlightTarget) {
        switch error {
        case .invalidEOFState: self = .connectionClosed(stage)
        case .headerOverflow: self = .headersTooLarge(limit: target.settings.maximumHeaderBytes)
        default: self = Self.malformed("\(error)", stage)
        }
    }

    /// What the system said, without the call that the event loop adds.
    private static func cause(_ error: any Error) -> String {
        (error as? IOError).map { "\(SystemError(rawValue: $0.errnoCode))" } ?? "\(error)"
    }

    private static func malformed(_ problem: String, _ stage: TrustedHTTPStage) -> TrustedHTTPFailure {
        stage == .tunnel ? .proxyMalformed(problem) : .malformedResponse(problem)
    }
}
