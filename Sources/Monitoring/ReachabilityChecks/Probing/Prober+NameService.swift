import LinuxSupport
import Netlink
import NetworkReachability

/// What programs get of the name service.
extension Prober {
    /// Asks for all addresses of a name as programs do (`getaddrinfo(3)`), through files, DNS and whatever `nsswitch.conf(5)` names.
    ///
    /// Nobody can stop the C library: when it takes longer than `limit` the answer is not waited for any more, and its thread is replaced.
    package func resolve(_ name: String, limit: Duration = .milliseconds(3400)) async -> ProbeResult {
        let request = request(.resolve, .target, nil, limit: limit)
        let begun = SystemClock.monotonic
        let answer = await answer(for: name, limit)
        var result = ProbeResult(request, generation: line.generation, .answered)
        switch answer {
        case .success(let addresses)?:
            result.evidence.addresses = addresses.map { IPAddress($0) }
            result.phases[.resolve] = SystemClock.monotonic - begun
            return result
        case .failure(.noSuchName)?: result.outcome = .invalid(.nameNotFound)
        case .failure(.noAddress)?: result.outcome = .invalid(.noData)
        case .failure(.unavailable)?: result.outcome = .invalid(.temporaryFailure)
        case nil: result.outcome = Task.isCancelled ? .cancelled : .silent
        }
        if result.outcome != .cancelled { result.failedPhase = .resolve }
        return result
    }

    /// Nil where there is none within the limit.
    private func answer(
        for name: String,
        _ limit: Duration
    ) async -> Result<[NameLookup.Address], NameLookup.Failure>? {
        let (answers, answered) = AsyncStream.makeStream(of: Result<[NameLookup.Address], NameLookup.Failure>.self)
        line.resolver.resolve(name) { answer in
            answered.yield(answer)
            answered.finish()
        }
        return await withTaskGroup { group in
            group.addTask { await answers.first { _ in true } }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}
