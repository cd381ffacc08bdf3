import LinuxSupport
import NIOCore

/// A mail protocol in which a command begins TLS.
package enum StartTLS: String, Hashable, Sendable, CaseIterable {
    /// RFC 3207.
    case smtp
    /// RFC 9051.
    case imap
    /// RFC 2595.
    case pop3

    /// The usual port.
    package var port: UInt16 {
        switch self {
        case .smtp: 25
        case .imap: 143
        case .pop3: 110
        }
    }
}

/// The dialogue before a TLS handshake. It processes the lines of the server, and has no other input.
struct StartTLSDialogue {
    enum Step: Hashable, Sendable {
        /// The server must send more lines.
        case wait
        case send(String)
        /// TLS begins with the next byte.
        case begin
        case fail(StartTLSFault)
    }

    private enum State { case greeting, capabilities, command }

    private let kind: StartTLS
    private var state = State.greeting
    private var offersTLS = false

    init(_ kind: StartTLS) {
        self.kind = kind
    }

    /// Returns the next step after a line of the server, without its line end.
    mutating func take(_ line: String) -> Step {
        switch kind {
        case .smtp: return takeSMTP(line)
        case .imap: return takeIMAP(line)
        case .pop3: return takePOP3(line)
        }
    }

    private mutating func takeSMTP(_ line: String) -> Step {
        let code = Int(line.prefix(3))
        // All lines of an answer but the last have a hyphen after the code.
        let isLast = line.utf8.dropFirst(3).first != UInt8(ascii: "-")
        switch state {
        case .greeting:
            guard code == 220 else { return .fail(StartTLSFault(.greetingNotExpected, line)) }
            if isLast { state = .capabilities }
            // The name of this machine is not sent.
            return isLast ? .send("EHLO localhost") : .wait
        case .capabilities:
            guard code == 250 else { return .fail(StartTLSFault(.startTLSRefused, line)) }
            if line.dropFirst(4).uppercased() == "STARTTLS" { offersTLS = true }
            guard isLast else { return .wait }
            state = .command
            return offersTLS ? .send("STARTTLS") : .fail(StartTLSFault(.startTLSRefused, nil))
        case .command:
            return code == 220 ? .begin : .fail(StartTLSFault(.startTLSRefused, line))
        }
    }

    private mutating func takeIMAP(_ line: String) -> Step {
        guard state != .greeting else {
            guard line.uppercased().hasPrefix("* OK") else { return .fail(StartTLSFault(.greetingNotExpected, line)) }
            state = .command
            return .send("A1 STARTTLS")
        }
        if line.hasPrefix("* ") { return .wait }
        return line.uppercased().hasPrefix("A1 OK") ? .begin : .fail(StartTLSFault(.startTLSRefused, line))
    }

    private mutating func takePOP3(_ line: String) -> Step {
        guard line.hasPrefix("+OK") else {
            return .fail(StartTLSFault(state == .greeting ? .greetingNotExpected : .startTLSRefused, line))
        }
        guard state == .greeting else { return .begin }
        state = .command
        return .send("STLS")
    }
}

/// The reason why a server does not begin TLS.
struct StartTLSFault: Error, Hashable, Sendable {
    let reason: ProbeReason
    /// The refusal or the unexpected greeting of the server, at most 80 characters; nil if it does not offer TLS.
    let line: String?

    init(_ reason: ProbeReason, _ line: String?) {
        (self.reason, self.line) = (reason, line.map { String($0.prefix(80)) })
    }

    /// The fault as a part of a sentence.
    var detail: String {
        guard let line else { return "it does not offer STARTTLS" }
        return reason == .startTLSRefused ? "it refuses STARTTLS: \(line)" : "its greeting is not expected: \(line)"
    }
}

/// Performs the dialogue on a connection. The handler must be removed before TLS is added.
final class StartTLSHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The maximum number of bytes that are read.
    private static let limit = 8 * 1024

    private var dialogue: StartTLSDialogue
    private let ready: EventLoopPromise<Void>
    private var pending: [UInt8] = []
    private var count = 0

    /// - Parameter ready: The promise that is completed when TLS may begin. It fails with ``StartTLSFault`` or an error of the connection.
    init(_ kind: StartTLS, ready: EventLoopPromise<Void>) {
        (dialogue, self.ready) = (StartTLSDialogue(kind), ready)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data).readableBytesView
        count += bytes.count
        pending += bytes
        guard count <= Self.limit else {
            return ready.fail(StartTLSFault(.greetingNotExpected, "more than \(Self.limit) bytes"))
        }
        while let end = pending.firstIndex(of: 0x0a) {
            let line = pending[..<end]
            pending.removeSubrange(...end)
            switch dialogue.take(String(decoding: line.last == 0x0d ? line.dropLast() : line, as: UTF8.self)) {
            case .wait: break
            case .send(let command):
                // Bytes before the command were sent for another connection, or by someone between both machines.
                guard pending.isEmpty else {
                    return ready.fail(StartTLSFault(.greetingNotExpected, "bytes before a command"))
                }
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: command + "\r\n")), promise: nil)
            case .begin:
                guard pending.isEmpty else {
                    return ready.fail(StartTLSFault(.greetingNotExpected, "bytes before TLS"))
                }
                return ready.succeed()
            case .fail(let fault): return ready.fail(fault)
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        ready.fail(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        ready.fail(ChannelError.eof)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        ready.fail(ChannelError.ioOnClosedChannel)
    }
}
