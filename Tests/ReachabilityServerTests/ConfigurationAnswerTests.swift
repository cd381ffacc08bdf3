import Foundation
import LinuxSupport
import NIOHTTP1
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@testable import ReachabilityServer
@testable import ReachabilityService

/// The configuration in force in the API.
@Suite struct ConfigurationAnswerTests {
    private let directory = "/tmp/config-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    private var file: String { directory + "/serve.toml" }

    private func write(_ text: String) throws { try text.write(toFile: file, atomically: true, encoding: .utf8) }

    /// The API of a service with a configuration file.
    private func makeAPI() throws -> (api: API, reloader: Reloader) {
        let service = MonitoringService()
        let reloader = Reloader(file, of: service, current: try Reloader.read(file))
        return (API(service, reloader: reloader, version: "1") { WebStatistics() }, reloader)
    }

    private func ask(_ api: API, _ accept: String = "*/*") throws -> String {
        let answer = try api.answer("/v1/config", .GET, [("Accept", accept)])
        #expect(answer.status == .ok)
        return String(decoding: answer.body, as: UTF8.self)
    }

    private func object(_ api: API) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(try ask(api).utf8)) as? [String: Any])
    }

    private func inDirectory(_ body: () throws -> Void) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body()
    }

    @Test func `the configuration is returned without secrets`() throws {
        try inDirectory {
            try write(
                """
                schema = 1
                [anchors]
                urls = ["https://a.example.org/SECRET"]
                [[target]]
                name = "erp \\"x\\""
                host = "192.0.2.80"
                checks = ["tcp:22", { https = "/health?key=SECRET", port = 8443, expect = 200, \
                    body = "SECRET", headers = { X-Key = "SECRET" }, contains = "SECRET", json = { "/a" = "SECRET" } }]
                [[notify]]
                name = "chat"
                webhook = "https://chat.example.org:8443/hook/SECRET?SECRET"
                secret-file = "SECRET"
                body = "SECRET"
                headers = { name = "SECRET", X-Key = "SECRET" }
                [heartbeat]
                url = "https://hc.example.org?SECRET"
                """
            )
            let (api, _) = try makeAPI()
            #expect(try !ask(api).contains("SECRET"))
            #expect(try !ask(api, "text/plain").contains("SECRET"))
            let object = try object(api)
            #expect(object["file"] as? String == file)
            #expect(object["stale"] as? Bool == false)
            let said = try #require(object["configuration"] as? [String: Any])
            let target = try #require((said["target"] as? [[String: Any]])?.first)
            #expect(target["name"] as? String == "erp \"x\"")
            let checks = try #require(target["checks"] as? [Any])
            #expect(checks.first as? String == "tcp:22")
            #expect((checks.last as? [String: Any])?["https"] as? String == "/health?***")
            #expect((checks.last as? [String: Any])?["port"] as? Int == 8443)
            let notifier = try #require((said["notify"] as? [[String: Any]])?.first)
            #expect(notifier["webhook"] as? String == "https://chat.example.org:8443/***")
            #expect(notifier["secret-file"] as? String == "***")
            #expect((said["heartbeat"] as? [String: Any])?["url"] as? String == "https://hc.example.org/***")
            #expect((said["anchors"] as? [String: Any])?["urls"] as? [String] == ["https://a.example.org/***"])
        }
    }

    @Test func `a rejected configuration is stale, and sections that need a restart are listed`() throws {
        try inDirectory {
            let first = "schema = 1\n[[target]]\nname = \"a\"\nhost = \"127.0.0.1\"\n"
            try write(first)
            let (api, reloader) = try makeAPI()
            try write(first + "x = 1\n")
            #expect(throws: ConfigurationProblems.self) { _ = try reloader.reload() }
            var object = try object(api)
            #expect(object["stale"] as? Bool == true)
            #expect(String(describing: object["configuration"]).contains("x = 1") == false)
            try write(first + "[history]\nkeep = \"3d\"\n")
            #expect(try reloader.reload() == ["history"])
            object = try self.object(api)
            #expect(object["stale"] as? Bool == false)
            #expect(object["needsRestart"] as? [String] == ["history"])
            let said = try #require(object["configuration"] as? [String: Any])
            #expect((said["history"] as? [String: Any])?["keep"] as? String == "3d")
        }
    }

    @Test func `without a file the configuration is empty`() throws {
        let object = try object(API(MonitoringService(), version: "1") { WebStatistics() })
        #expect(object["file"] is NSNull)
        #expect((object["configuration"] as? [String: Any])?.isEmpty == true)
    }

    @Test(arguments: [
        ("url", "https://u:p@host/x", "https://***"), ("url", "https://host", "https://host"), ("url", "host/x", "***"),
        ("url", "https://host#x", "https://host/***"), ("url", "https://host?\u{301}x", "https://host/***"),
        ("token", "x", "***"), ("password", "", "***"), ("https", "/a?\u{301}b", "/a?***"), ("name", "a?b", "a?b"),
        ("title", "Status", "Status"), ("base-path", "/net", "/net"), ("listen", "127.0.0.1:80", "127.0.0.1:80"),
    ])
    func `texts that may be secrets are masked`(key: String, text: String, shown: String) {
        #expect(TOMLNode.withoutSecrets(text, under: key) == shown)
    }
}
