package import LinuxSupport

/// Why a connection to a broker ended, or never was: what was tried, what the system or the broker said, and what to do.
package struct BrokerError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Cause: Hashable, Sendable {
        /// Its name leads nowhere, as the name service says.
        case unknownHost(String)
        /// Nobody could be reached there.
        case unreachable(SystemError)
        /// A file for TLS cannot be used, as the TLS library says.
        case unusableFiles(String)
        /// The broker's certificate is not good, as the TLS library says.
        case untrusted(String)
        /// The certificate is good, but for another name.
        case wrongName
        /// The broker has refused what the client showed in TLS, as the alert says, or has ended the handshake without a word.
        case handshake(String)
        /// The broker has refused the connection.
        case refused(ReasonCode)
        /// The broker has refused a subscription.
        case subscriptionRefused(ReasonCode)
        /// The broker has ended the connection, for that reason.
        case ended(ReasonCode)
        /// The connection broke.
        case lost
        /// One connection after the other was lost: another client probably uses the same name. With what gives the client another one.
        case nameConflict(String, option: String)
        /// The broker was silent for too long.
        case silent
        /// What came is no MQTT, or the library cannot go on for another reason.
        case failed(String)
    }

    package let address: BrokerAddress
    package let cause: Cause

    package init(_ address: BrokerAddress, _ cause: Cause) {
        (self.address, self.cause) = (address, cause)
    }

    package var description: String {
        switch cause {
        case .unknownHost(let text): "cannot connect to \(place): its name is not found: \(text.printable)"
        case .unreachable(let error):
            "cannot connect to \(place): \(error): is the broker running, and listening there?"
        case .unusableFiles(let text):
            "cannot speak TLS with \(place): \(text.printable): see the files of --authority, --certificate and --key"
        case .untrusted(let text):
            "cannot trust \(place): \(text.printable): it is expired, or nobody in --authority has signed it; "
                + "`reachability trust \(target)` says which"
        case .wrongName:
            "cannot trust \(place): its certificate is for another name: connect by a name that stands in it"
        case .handshake(let text):
            "\(place) refuses TLS: \(text.printable): see that it speaks TLS, and that --certificate is one it trusts"
        case .refused(let reason): "\(place) refuses the connection: \(reason): \(Self.advice(reason))"
        case .subscriptionRefused(let reason):
            "\(place) refuses the subscription: \(reason): see the broker's access control list"
        case .ended(.sessionTakenOver):
            "\(place) ended the connection: session taken over: another client connects with the same name"
        case .ended(let reason): "\(place) ended the connection: \(reason)"
        case .nameConflict(let name, let option):
            "cannot stay connected to \(place): it ends each connection soon after it accepted it; another client probably "
                + "connects as \(name.printable) too: give each its own name with \(option)"
        case .lost: "the connection to \(place) was lost"
        case .silent: "\(place) does not answer"
        case .failed(let text): "the connection to \(place) failed: \(text.printable)"
        }
    }

    private var place: String { "the broker \(address.description.printable)" }

    /// As `reachability trust` takes it.
    private var target: String { address.description.printable.split(at: "/").last.map(String.init) ?? "" }

    private static func advice(_ reason: ReasonCode) -> String {
        switch reason {
        case .badUserNameOrPassword, .notAuthorized, .banned:
            "see the client's certificate, and what the broker lets it do"
        case .unsupportedProtocolVersion: "it must speak MQTT 5 or 3.1.1"
        default: "see the broker's log"
        }
    }
}
