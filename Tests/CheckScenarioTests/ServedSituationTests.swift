import Foundation
import LinuxSupport
import NetworkLab
import TestSupport
import Testing
import TrustForge

/// The attributions of `reachability serve` in broken networks, compared with the table in docs/service/history.md.
///
///     SERVED_SITUATIONS=all Scripts/test -- --filter ServedSituationTests    all situations that the service can observe
///     SITUATIONS=host-off SERVED_SITUATIONS=all Scripts/test -- --filter ServedSituationTests
@Suite("Situations of the service")
struct ServedSituationTests {
    private static let gate = ConcurrencyGate(SituationRun.isExact ? 2 : 10)

    /// One situation of each kind.
    private static let usual: Set<String> = [
        "all-well", "no-route", "cable-out", "firewall-drops", "gateway-dead", "gateway-without-route",
        "provider-drops",
        "portal-redirects", "portal-for-page", "names-silent", "name-unknown", "no-name-server", "host-off",
        "host-answers-plainly", "port-closed", "service-503", "certificate-expired",
    ]

    static let chosen: [SituationCase] = {
        let isAll = ProcessInfo.processInfo.environment["SERVED_SITUATIONS"] == "all"
        let cases = SituationCase.named.filter { ServedSituation.question(of: $0.situation) != nil }
        if isAll { return cases }
        // The first variant of each situation is sufficient.
        var seen: Set<String> = []
        return cases.filter { usual.contains($0.situation.id) && seen.insert($0.situation.id).inserted }
    }()

    @Test(arguments: chosen)
    func `the fault is attributed to the right party`(_ test: SituationCase) async throws {
        try await Self.gate.run { try await ServedSituation.run(test) }
    }
}

/// A situation with a running service.
enum ServedSituation {
    /// Returns the configuration for a situation: a target and additional keys. Nil for a situation that only the command can test.
    static func question(of situation: Situation) -> String? {
        guard situation.sequel == nil, situation.arguments.isEmpty else { return nil }
        guard let text = situation.target else { return "at-large = true\nchecks = [\"network\"]" }
        guard let url = URL(string: text) else { return nil }
        if let host = url.host() {
            switch url.scheme {
            case "https", "http":
                let port = url.port.map { ", port = \($0)" } ?? ""
                return "host = \"\(host)\"\nchecks = [{ \(url.scheme ?? "") = \"\(url.path())\"\(port) }]"
            case "icmp": return "host = \"\(host)\"\nchecks = [\"ping\"]"
            case "tcp": return url.port.map { "host = \"\(host)\"\nchecks = [\"tcp:\($0)\"]" }
            default: return nil
            }
        }
        let parts = text.split(separator: ":")
        return parts.count == 2 && Int(parts[1]) != nil ? "host = \"\(parts[0])\"\nchecks = [\"tcp:\(parts[1])\"]" : nil
    }

    /// Returns the permitted attributions for a result, by the table in docs/service/history.md and not by the code.
    static func attributions(_ right: Situation.Right) -> Set<String> {
        Set(
            right.places.flatMap { place -> [String] in
                switch place {
                case "works", "degraded": return ["up"]
                case "inconclusive": return ["unknown"]
                case "thisMachine", "link": return ["us"]
                case "gateway", "upstream", "portal": return ["upstream"]
                case "host", "service": return ["them"]
                case "tls": return right.reasons.contains("intercepted") ? ["upstream"] : ["them"]
                case "dns":
                    if right.reasons.contains("noServerConfigured") { return ["us"] }
                    return right.reasons.isDisjoint(with: ["nameNotFound", "noData"]) ? ["upstream"] : ["them"]
                default: return []
                }
            }
        )
    }

    static func run(_ test: SituationCase) async throws {
        let run = try await SituationRun(test)
        do {
            if try await run.isProven(by: test.situation.facts), CheckCommand.isMeasured { try await judge(test, run) }
        } catch {
            await run.close()
            throw error
        }
        await run.close()
    }

    /// The service's answer about its only target.
    private struct Answer: Decodable {
        struct Check: Decodable {
            let place: String
            let reason: String
            let sentence: String
        }

        let attribution: String
        let cause: String?
        let reason: String?
        let basis: String
        let check: Check?
    }

    private static func judge(_ test: SituationCase, _ run: SituationRun) async throws {
        let (world, directory) = (run.world, ScratchDirectory())
        guard let question = question(of: test.situation) else { return }
        let isAsked = test.variant.ask == .anchors || test.variant.ask == .anchorsByAddress
        let anchors = isAsked ? "[anchors]\nurls = \(test.situation.anchors)\n" : ""
        let file = try directory.write(
            "serve.toml",
            "schema = 1\n\(anchors)[[target]]\nname = \"it\"\n\(question)\ninterval = \"5s\"\n"
        )
        let socket = directory.path + "/api.sock"
        let resolvers = run.addresses.map { "nameserver \($0)\n" }.joined()
        let names = test.variant.ask == .anchorsByAddress ? hosts(test.variant.line) : ""
        let allowed = attributions(test.situation.right)
        let late = test.situation.late
        let (answer, errors) = try await LabThread.detached {
            try world.apply(late)
            let arguments = [
                resolvers, names, "--config", file, "--listen", "none", "--socket", socket, "--history", "none",
            ]
            let process = try world[.pc].start("unshare", ["--mount", "sh", "-c", script, "sh"] + arguments)
            var answer: Answer?
            // The verdict may not be decided yet. The second of two checks decides.
            _ = Deadline(after: .seconds(120)).poll(every: .milliseconds(100)) {
                answer = (try? ask(socket)) ?? answer
                return answer.map { allowed.contains($0.attribution) && isDecided($0) } ?? false
            }
            process.signal(SIGTERM)
            let start = ContinuousClock.now
            let result = try process.wait()
            // Checks may be in progress.
            if SituationRun.isExact { #expect(ContinuousClock.now - start < .seconds(1)) }
            #expect(result.status == 0)
            return (answer, result.errors)
        }
        let told = try #require(answer, Comment(rawValue: "the service did not answer: \(errors)"))
        #expect(allowed.contains(told.attribution), "\(told)")
        // If the kernel reported the fault, no packet was sent.
        #expect(told.basis == "path+checks" || told.attribution == "us" && told.check == nil, "\(told)")
    }

    /// At the beginning the state is not known.
    private static func isDecided(_ answer: Answer) -> Bool {
        answer.attribution != "unknown" || answer.basis == "path+checks"
    }

    private static func hosts(_ line: Line) -> String {
        [("anchor", Spot.anchor), ("second", .secondAnchor)].flatMap { name, spot in
            line.families.map { "\(spot.address($0)) \(name).example\n" }
        }.joined()
    }

    private static func ask(_ socket: String) throws -> Answer {
        let request = "GET /v1/targets/it HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        let bytes = try LocalSocket.exchange(Array(request.utf8), with: socket, limit: 1 << 20, patience: .seconds(10))
        let text = String(decoding: bytes, as: UTF8.self)
        let body = text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? ""
        return try JSONDecoder().decode(Answer.self, from: Data(body.utf8))
    }

    /// A script that replaces files of the machine by those of the test.
    private static var script: String {
        """
        set -e
        mount -t tmpfs -o mode=755 tmpfs /run
        printf %s "$1" > /run/resolv.conf; printf %s "$2" > /run/hosts; shift 2
        echo 'hosts: files dns' > /run/nsswitch.conf
        for name in resolv.conf nsswitch.conf hosts; do
            target=$(readlink -m /etc/$name)
            [ -e "$target" ] || { mkdir -p "${target%/*}" && : > "$target"; }
            [ "$target" -ef /run/$name ] || mount --bind /run/$name "$target"
        done
        exec env -u SSL_CERT_DIR SSL_CERT_FILE=\(Roots.file) \(CheckCommand.path) serve "$@"
        """
    }
}
