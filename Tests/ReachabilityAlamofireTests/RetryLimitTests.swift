import FoundationEssentials
import LinuxSupport
import NetworkLab
import ReachabilityAlamofire
import Testing

/// The number of attempts with interceptors of Alamofire, against servers.
struct RetryLimitTests {
    /// A session like `Session()` that does not query the kernel for reachability.
    private func session(_ interceptor: (any RequestInterceptor)? = nil) throws -> Session {
        let limits = try RetryLimits(rate: 10_000, spread: .zero, budget: RetryBudget(retryCost: 0))
        let coordinator = RetryCoordinator(limits: limits, reachability: NetlinkReachabilityProvider { _ in nil })
        let options = RequestRetryOptions(coordinator: coordinator)
        return Session(settings: RetrySettings(policy: .singleAttempt, options: options), interceptor: interceptor)
    }

    private func attempts(_ response: AFDataResponse<Data?>) -> Int { response.metrics?.attempts.count ?? 0 }

    private func response(_ request: DataRequest) async -> AFDataResponse<Data?> {
        await withCheckedContinuation { continuation in request.response { continuation.resume(returning: $0) } }
    }

    @Test(arguments: [0, 1, 2, 6] as [UInt])
    func `the retry limit is the maximum number of retries after a rejected status and after a failure`(
        limit: UInt
    ) async throws {
        let policy = RetryPolicy(retryLimit: limit, exponentialBackoffScale: 0.001)
        let busy = try ScriptedServer { _ in .status(503) }
        let silent = try ScriptedServer { _ in .disconnect }
        let refusing = try ScriptedServer(backlog: .closed) { _ in .silence }
        defer { for server in [busy, silent, refusing] { server.stop() } }
        for server in [busy, silent, refusing] {
            let ofSession = try session(policy).request(server.url()).validate()
            let own = try session().request(server.url(), interceptor: policy).validate()
            for request in [ofSession, own] {
                let response = await response(request)
                #expect(response.error != nil && attempts(response) == Int(limit) + 1)
            }
        }
        // Without a validation a status is not a failure.
        #expect(attempts(await response(try session(policy).request(busy.url()))) == 1)
    }

    @Test func `ConnectionLostRetryPolicy retries a lost connection, but not a refused one`() async throws {
        let policy = ConnectionLostRetryPolicy(retryLimit: 3, exponentialBackoffScale: 0.001)
        let silent = try ScriptedServer { _ in .disconnect }
        let refusing = try ScriptedServer(backlog: .closed) { _ in .silence }
        defer { for server in [silent, refusing] { server.stop() } }
        #expect(attempts(await response(try session(policy).request(silent.url()))) == 4)
        #expect(attempts(await response(try session(policy).request(refusing.url()))) == 1)
    }

    @Test func `a policy retries only failures of the network with its codes`() async throws {
        let silent = try ScriptedServer { _ in .disconnect }
        let refusing = try ScriptedServer(backlog: .closed) { _ in .silence }
        defer { for server in [silent, refusing] { server.stop() } }
        let codes: [(ScriptedServer, URLError.Code)] = [
            (silent, .networkConnectionLost), (refusing, .cannotConnectToHost),
        ]
        for (server, code) in codes {
            for retried in codes.map(\.1) {
                let policy = RetryPolicy(
                    retryLimit: 1,
                    exponentialBackoffScale: 0.001,
                    retryableURLErrorCodes: [retried]
                )
                let response = await response(try session(policy).request(server.url()))
                #expect(networkErrorCode(response.error) == code)
                #expect(response.error?.attempts.count == attempts(response))
                #expect(attempts(response) == (retried == code ? 2 : 1))
            }
        }
    }

    @Test func `retriers receive an AFError and the response of the failed attempt`() async throws {
        let seen = Locked<[String]>([])
        let busy = try ScriptedServer { _ in .status(500) }
        let refusing = try ScriptedServer(backlog: .closed) { _ in .silence }
        defer { for server in [busy, refusing] { server.stop() } }
        let retrier: any RequestInterceptor = .retrier { request, _, error, completion in
            let error = error.asAFError
            let kind = error?.responseCode.map { "\($0)" } ?? (error?.isSessionTaskError == true ? "task" : "other")
            seen.withLock { $0.append("\(kind) \(request.response?.statusCode ?? 0) \(request.retryCount)") }
            completion(request.retryCount == 0 ? .retry : .doNotRetry)
        }
        let session = try session(retrier)
        _ = await response(session.request(busy.url()).validate())
        _ = await response(session.request(refusing.url()))
        #expect(seen.withLock { $0 } == ["500 500 0", "500 500 1", "task 0 0", "task 0 1"])
    }

    @Test func `code in a file that imports Foundation uses the types of this package`() async throws {
        let server = try ScriptedServer { request in .status(request.fields["date"] == nil ? 400 : 200) }
        defer { server.stop() }
        let session = try session(SigningInterceptor())
        let response = await response(session.request(server.url()).validate())
        #expect(response.error == nil)
        #expect(try encodedNumbers(URLEncoding(boolEncoding: .literal)) == "1 0 2 true false")
        #expect(try encodedNumbers(.default) == "1 0 2 1 0")
        let halves = shortHalves()
        #expect(halves.adapters.count == 2 && halves.retriers.count == 3)
        #expect(localizedText(AFError.explicitlyCancelled) == "the request was cancelled")
        #expect(localizedText(AuthenticationError.missingCredential).hasPrefix("there is no credential"))
    }
}
