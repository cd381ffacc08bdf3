import Dispatch
import FoundationEssentials
import NetworkLab
import ReachabilityAlamofire
import Testing

/// Sessions with a configuration.
struct ConfigurationTests {
    private func withServer(_ body: (_ url: (String) -> String) async throws -> Void) async throws {
        let server = try ScriptedServer { request in
            switch request.target {
            case "/silent": .silence
            case "/set": .status(200, headers: [("Set-Cookie", "a=1")])
            default:
                .status(200, body: Array("\(request.fields["own"] ?? "-") \(request.fields["cookie"] ?? "-")".utf8))
            }
        }
        defer { server.stop() }
        try await body { server.url($0) }
    }

    @Test func `a session has the settings of a configuration`() async throws {
        try await withServer { url in
            let configuration = URLSessionConfiguration.af.default
            configuration.timeoutIntervalForRequest = 0.05
            configuration.httpAdditionalHeaders = ["Own": 1]
            let session = Session(configuration: configuration)
            let silent = await session.request(url("/silent")).serializingData().response
            #expect(silent.error?.isSessionTaskError == true && session.headers["Own"] == "1")
            let whole = URLSessionConfiguration.ephemeral
            (whole.timeoutIntervalForResource, whole.waitsForConnectivity) = (0.05, true)
            let limited = Session(configuration: whole, startRequestsImmediately: false)
            #expect(limited.policy.deadline == .seconds(0.05) && limited.policy.pathTimeout == nil)
            let late = await limited.request(url("/silent")).serializingData().response
            #expect(late.error?.isSessionTaskError == true)
            let plain = Session(configuration: .default, interceptor: Interceptor())
            let request = plain.request(url("/"))
            let text = try await request.serializingString().value
            #expect(text == "- -" && plain.policy.deadline == nil)
            #expect(request.tasks.count == 1 && request.task?.response?.statusCode == 200)
        }
    }

    @Test func `a configuration disables cookies, or keeps them in its storage`() async throws {
        try await withServer { url in
            for change in [
                { $0.httpCookieStorage = nil }, { $0.httpShouldSetCookies = false },
                { $0.httpCookieAcceptPolicy = .never },
            ] as [(URLSessionConfiguration) -> Void] {
                let configuration = URLSessionConfiguration.ephemeral
                change(configuration)
                let session = Session(configuration: configuration)
                _ = try await session.request(url("/set")).serializingData(emptyResponseCodes: [200]).value
                let text = try await session.request(url("/")).serializingString().value
                #expect(text == "- -")
            }
            let configuration = URLSessionConfiguration.default
            let session = Session(configuration: configuration)
            _ = try await session.request(url("/set")).serializingData(emptyResponseCodes: [200]).value
            #expect(configuration.httpCookieStorage?.cookies?.count == 1)
        }
    }

    @Test func `a session has Alamofire's parameters`() {
        let queue = DispatchQueue(label: "own")
        let session = Session(rootQueue: queue, requestSetup: .eager, requestQueue: queue, serializationQueue: queue)
        #expect(session.requestSetup == .eager && session.headers["User-Agent"] != nil)
        #expect(Session(requestQueue: queue, interceptor: Interceptor()).interceptor != nil)
        #expect(Session(configuration: .default, startRequestsImmediately: false).headers.isEmpty)
        #expect(Session().requestSetup == .lazy)
        let configuration = URLSessionConfiguration.default
        configuration.requestCachePolicy = .reloadIgnoringLocalAndRemoteCacheData
        configuration.urlCache = nil
        #expect(Session(configuration: configuration).headers["Cache-Control"] == "no-cache")
    }
}
