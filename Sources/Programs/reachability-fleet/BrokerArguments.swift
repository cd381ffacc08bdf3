#if Fleet
import CommandLineSupport
import LinuxSupport
import MQTT

/// What is said of a broker on the command line.
enum BrokerArguments {
    static let nameRule = "1 to 64 letters, digits, \".\", \"_\" and \"-\", the first a letter or digit"

    static func read(
        _ text: String,
        authority: String?,
        certificate: String?,
        key: String?
    ) throws(ExitMessage) -> (BrokerAddress, BrokerOptions.TLS) {
        guard let broker = BrokerAddress(text) else {
            let hint = "write mqtts://HOST, mqtts://HOST:PORT or mqtt://HOST"
            throw ExitMessage("\"\(text.printable)\" is no address of a broker: \(hint)", .usage)
        }
        // One file may have both.
        let tls = BrokerOptions.TLS(authority: authority, certificate: certificate, key: key ?? certificate)
        guard key == nil || certificate != nil else { throw ExitMessage("--key goes with --certificate", .usage) }
        guard broker.isSecured || tls == BrokerOptions.TLS() else {
            throw ExitMessage("--authority, --certificate and --key are for a broker with TLS: mqtts://", .usage)
        }
        return (broker, tls)
    }
}

extension BrokerAddress {
    /// What is to be said of one without TLS.
    var warning: String? {
        if isSecured { return nil }
        return "anybody on the way can read what is said with \(self), and pretend to be the broker or the machine"
    }
}
#endif
