import ArgumentParser
import CommandLineSupport
import Dispatch
import Glibc
import LinuxSupport

/// The program of `reachability fleet`. It is a separate program because only it is linked with libmosquitto, and only if the package is
/// built with the trait Fleet. `reachability` executes it.
@main
struct FleetCommand: ParsableCommand {
    static let configuration = FleetGroup.configuration(
        name: "reachability fleet",
        subcommands: [
            Agent.self, HubCommand.self, Devices.self, Incidents.self, Forget.self, Enroll.self, Authority.self,
        ]
    )

    static func main() {
        CommandProcess.begin()
        // The threads of the global queues never sleep.
        Task(executorPreference: TaskQueue(label: "reachability.fleet")) { await CommandProcess.run(Self.self) }
        dispatchMain()
    }
}

/// `reachability fleet devices`: prints the machines of a hub.
struct Devices: ParsableCommand {
    static let configuration = FleetDevicesArguments.configuration

    @OptionGroup var arguments: FleetDevicesArguments

    func run() throws {
        let site = arguments.site.map { [("site", $0)] } ?? []
        let unexplained = arguments.unexplained ? [("unexplained", "true")] : []
        try ServiceClient(arguments.options, of: .hub).printList("/v1/devices", site + unexplained)
    }
}

/// `reachability fleet incidents`: prints the incidents of a hub.
struct Incidents: ParsableCommand {
    static let configuration = FleetIncidentsArguments.configuration

    @OptionGroup var arguments: FleetIncidentsArguments

    func run() throws {
        let client = try ServiceClient(arguments.options, of: .hub)
        if let incident = arguments.incident { return try client.printOne("/v1/incidents/\(incident.percentEncoded)") }
        let site = arguments.site.map { [("site", $0)] } ?? []
        try client.printList("/v1/incidents", site + (arguments.open ? [("state", "open")] : []))
    }
}

/// `reachability fleet forget`: deletes machines from a hub.
struct Forget: ParsableCommand {
    static let configuration = FleetForgetArguments.configuration

    @OptionGroup var arguments: FleetForgetArguments

    func run() throws {
        let (socket, url, token) = (arguments.place.socket, arguments.place.url, arguments.place.tokenFile)
        let client = try ServiceClient(socket: socket, url: url, tokenFile: token, of: .hub)
        if let site = arguments.site { return try client.change("DELETE", "/v1/devices?site=\(site.percentEncoded)") }
        let device = arguments.device ?? ""
        if arguments.everywhere { return try client.change("DELETE", "/v1/devices?device=\(device.percentEncoded)") }
        let parts = try place(of: device, client).split(at: "/", omittingEmptySubsequences: false).map {
            String($0).percentEncoded
        }
        try client.change("DELETE", "/v1/devices/\(parts.joined(separator: "/"))")
    }

    /// Returns the machine as `SITE/DEVICE`. Without a site, asks the hub for it.
    private func place(of device: String, _ client: ServiceClient) throws(ExitMessage) -> String {
        if device.contains("/") { return device }
        // Each line begins with `SITE/DEVICE:`.
        let places = try client.lines("/v1/devices?device=\(device.percentEncoded)").map { $0.prefix { $0 != ":" } }
        guard let place = places.first else {
            throw ExitMessage(
                "there is no device \"\(device.printable)\"; `reachability fleet devices` prints all devices",
                .usage
            )
        }
        if places.count > 1 {
            throw ExitMessage(
                "several sites have a device \(device.printable): \(places.joined(separator: ", ")); give one, or use --everywhere",
                .usage
            )
        }
        return String(place)
    }
}
