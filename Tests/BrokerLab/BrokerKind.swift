import Foundation
import LinuxSupport
package import MQTT

/// A broker program for tests.
package enum BrokerKind: String, Sendable, CaseIterable {
    case mosquitto, nats, rabbitmq

    /// The installed programs. RabbitMQ takes ten seconds to start, so it is tested only if `FLEET_BROKERS` is `all`.
    package static let tested = allCases.filter { kind in
        kind.program != nil && (kind != .rabbitmq || ProcessInfo.processInfo.environment["FLEET_BROKERS"] == "all")
    }

    /// The MQTT version of the broker.
    package var version: ProtocolVersion { self == .mosquitto ? .five : .threeOneOne }

    /// Whether the broker sends retained messages to subscribers with wildcards.
    package var tellsRetainedByWildcard: Bool { self != .rabbitmq }

    /// The text in the log of a broker that listens.
    var sign: String {
        switch self {
        case .mosquitto: " running"
        case .nats: "Server is ready"
        case .rabbitmq: "Server startup complete"
        }
    }

    var program: String? {
        let name: String
        switch self {
        case .mosquitto: name = "mosquitto"
        case .nats: name = "nats-server"
        // The program in PATH changes its user first.
        case .rabbitmq:
            return Self.isThere("/usr/lib/rabbitmq/bin/rabbitmq-server") ? "/usr/lib/rabbitmq/bin/rabbitmq-server" : nil
        }
        let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (directories + ["/usr/sbin", "/usr/local/sbin"]).map { "\($0)/\(name)" }.first(where: Self.isThere)
    }

    private static func isThere(_ path: String) -> Bool { access(path, X_OK) == 0 }

    /// Returns the configuration of the broker. `settings` are used only by mosquitto.
    func configuration(_ address: BrokerAddress, in directory: String, _ settings: [String]) -> String {
        let lines: [String]
        switch self {
        case .mosquitto:
            lines =
                [
                    "listener \(address.port) \(address.host)", "user root", "log_dest stderr", "log_type all",
                    "persistence true", "persistence_location \(directory)/", "autosave_interval 1",
                ] + settings.map { $0.replacing("@", with: directory) }
        case .nats:
            lines = [
                "server_name: lab", "host: \"\(address.host)\"", "port: -1",
                "jetstream { store_dir: \"\(directory)\" }",
                "mqtt { host: \"\(address.host)\", port: \(address.port) }",
            ]
        case .rabbitmq:
            lines = [
                "listeners.tcp = none", "mqtt.listeners.tcp.default = \(address.host):\(address.port)",
                "mqtt.allow_anonymous = true", "mqtt.default_user = guest", "mqtt.default_pass = guest",
                "log.console = true", "log.file = false",
            ]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the shell script that starts the broker.
    func script(in directory: String) -> String {
        let program = program ?? rawValue
        switch self {
        case .mosquitto, .nats: return "exec \(program) -c \(directory)/conf"
        case .rabbitmq:
            // Erlang's name daemon (epmd) would remain if the broker started it.
            return """
                printf '[rabbitmq_mqtt].' >\(directory)/plugins
                setpriv --pdeathsig KILL epmd &
                cp \(directory)/conf \(directory)/rabbitmq.conf
                export HOME=\(directory) RABBITMQ_NODENAME=lab@localhost RABBITMQ_CONFIG_FILE=\(directory)/rabbitmq.conf \
                RABBITMQ_MNESIA_BASE=\(directory) RABBITMQ_LOG_BASE=\(directory) RABBITMQ_ALLOW_INPUT=1 \
                RABBITMQ_ENABLED_PLUGINS_FILE=\(directory)/plugins RABBITMQ_PID_FILE=\(directory)/pid \
                RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-noinput
                exec \(program)
                """
        }
    }
}
