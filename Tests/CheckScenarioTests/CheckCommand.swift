import Foundation
import NetworkLab
import TestSupport

/// A run of `reachability check`, and its output.
struct CheckCommand: Sendable {
    let status: CInt
    let errors: String
    let output: String
    /// The last line of its output.
    let line: CheckLine?

    /// REACHABILITY_BINARY, or the binary beside the running test bundle. With `none`, networks are only built and proven.
    static let path =
        getenv("REACHABILITY_BINARY").map { String(cString: $0) } ?? BuiltProgram.path("reachability")

    /// True if the verdict of the command is tested.
    static let isMeasured = path != "none"

    /// Runs the command as the pc. Blocks the thread.
    ///
    /// - Parameters:
    ///   - arguments: The arguments after `check --json`.
    ///   - resolvers: The name servers of `/etc/resolv.conf`.
    static func run(
        in world: World,
        _ arguments: [String],
        resolvers: [String],
        asNobody: Bool
    ) throws -> CheckCommand {
        let result = try world[.pc].run(
            "unshare",
            ["--mount", "sh", "-c", script(asNobody: asNobody), "sh"] + arguments,
            input: resolvers.map { "nameserver \($0)\n" }.joined()
        )
        let last = result.output.split(separator: "\n").last
        return CheckCommand(
            status: result.status,
            errors: result.errors,
            output: result.output,
            line: try last.map { try JSONDecoder().decode(CheckLine.self, from: Data($0.utf8)) }
        )
    }

    /// Returns a script that replaces files of the machine by those of the test, and gives other users access to the programs in the build
    /// directory. `/etc/resolv.conf` may be a link to a file in `/run`.
    private static func script(asNobody: Bool) -> String {
        let programs = path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
        let user = asNobody ? "setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs" : ""
        return """
            set -e
            mount -t tmpfs -o mode=755 tmpfs /run
            mkdir /run/programs && mount --bind \(programs) /run/programs
            cat > /run/resolv.conf && cp \(Roots.file) /run/root.pem
            echo 'hosts: files dns' > /run/nsswitch.conf
            for name in resolv.conf nsswitch.conf; do
                target=$(readlink -m /etc/$name)
                [ -e "$target" ] || { mkdir -p "${target%/*}" && : > "$target"; }
                [ "$target" -ef /run/$name ] || mount --bind /run/$name "$target"
            done
            chmod 644 /run/*.conf /run/root.pem
            exec \(user) env -u SSL_CERT_DIR SSL_CERT_FILE=/run/root.pem /run/programs/reachability check --json "$@"
            """
    }
}

/// A line of the command's JSON with the tested keys.
struct CheckLine: Sendable, Decodable {
    struct Cost: Sendable, Decodable {
        let packets: Int
        let bytes: Int
    }

    struct Step: Sendable, Decodable {
        let kind: String
        let state: String
        let summary: String
    }

    struct Probe: Sendable, Decodable {
        let probe: String
    }

    let schema: Int
    let steps: [Step]
    let probes: [Probe]
    let target: String
    let place: String
    let reason: String?
    let confidence: String
    let text: String
    let cost: Cost
    let milliseconds: Int?
}
