import LinuxSupport
import NetworkReachability

/// Resolves the addresses of names. Given addresses (`--resolve`) have priority. If the user names DNS servers, these are queried,
/// otherwise the name service of the system.
struct AddressLookup: Sendable {
    let site: CheckSite
    let nonce: Nonce

    /// The result of a lookup.
    struct Entry: Sendable {
        var addresses: [IPAddress] = []
        /// The results of the probes that the lookup used.
        var results: [ProbeResult] = []
        /// True if the name service or a DNS server answered that the name does not exist.
        var isDenied: Bool {
            results.contains { result in
                if result.outcome == .answered, let facts = result.evidence.dns {
                    // A name may have no address of one family.
                    return facts.code == .nameError || facts.addresses.isEmpty && facts.type == .a
                }
                return result.outcome == .invalid(.nameNotFound) || result.outcome == .invalid(.noData)
            }
        }
    }

    /// Returns the addresses of a host. A host that is an address is returned as it is.
    func addresses(of host: String, limit: Duration) async -> Entry {
        if let address = IPAddress(host) { return Entry(addresses: [address]) }
        if let given = site.options.resolution(of: host) { return Entry(addresses: given) }
        if let servers = site.options.nameServers { return await query(servers, for: host, limit: limit) }
        guard
            let prober = site.lines.first?.prober ?? (try? site.prober(to: IPAddress(WireAddress.ipv6Loopback)))?.prober
        else { return Entry() }
        let result = await prober.resolve(host, limit: limit)
        return Entry(addresses: result.evidence.addresses, results: [result])
    }

    /// The time that other servers have after one has returned an address.
    private static let patience = Duration.milliseconds(300)

    /// Queries all servers and uses the first one in the list that returns an address, as the C library does. Silent servers are not waited
    /// for, because the target needs time too.
    private func query(_ servers: [IPAddress], for host: String, limit: Duration) async -> Entry {
        let answers = await withTaskGroup(of: (Int, [ProbeResult])?.self) { group in
            for (index, server) in servers.enumerated() {
                group.addTask { (index, await questions(to: server, about: host, .target, limit: limit)) }
            }
            var answers: [(Int, [ProbeResult])] = []
            var isAnswered = false
            for await answer in group {
                guard let answer else {
                    group.cancelAll()
                    continue
                }
                answers.append((answer.0, answer.1.filter { $0.outcome != .cancelled }))
                if answers.count == servers.count { break }
                guard !isAnswered, answer.1.contains(where: { $0.evidence.dns?.addresses.isEmpty == false }) else {
                    continue
                }
                isAnswered = true
                group.addTask {
                    try? await Task.sleep(for: Self.patience)
                    return nil
                }
            }
            group.cancelAll()
            return answers
        }
        var entry = Entry()
        for (_, results) in answers.sorted(by: { $0.0 < $1.0 }) {
            entry.results += results
            if entry.addresses.isEmpty { entry.addresses = results.flatMap { $0.evidence.dns?.addresses ?? [] } }
        }
        return entry
    }

    /// Queries one server for the addresses of a name in both families.
    func questions(
        to server: IPAddress,
        about host: String,
        _ purpose: NamePurpose,
        limit: Duration
    ) async -> [ProbeResult] {
        guard let name = DNSName(host), let prober = try? site.prober(to: server).prober else { return [] }
        return await withTaskGroup(of: ProbeResult.self) { group in
            for type in [DNSRecordType.a, .aaaa] {
                let question = DNSQuestion(name, type, identifier: nonce.identifier)
                group.addTask { await prober.query(server, purpose, question, limit: limit) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}

/// The source of random numbers that identify the answers to a check. Tests use fixed numbers.
struct Nonce: Sendable {
    private let number: @Sendable () -> UInt64

    init(_ number: @escaping @Sendable () -> UInt64 = { .random(in: 0 ... .max) }) {
        self.number = number
    }

    /// The identifier of a DNS question.
    var identifier: UInt16 { UInt16(truncatingIfNeeded: number()) }

    /// The challenge that an anchor must echo: 128 bits in hexadecimal.
    var challenge: String { hexadecimal(digits: 16) + hexadecimal(digits: 16) }

    /// A random name below `.invalid`, which does not exist (RFC 6761).
    var inventedName: DNSName? { DNSName(hexadecimal(digits: 10) + ".invalid") }

    private func hexadecimal(digits: Int) -> String {
        let text = String(number(), radix: 16)
        return (String(repeating: "0", count: digits) + text).suffix(digits).description
    }
}
