import ReachabilityHTTP
import ReachabilityRetry

/// What the kernel says of whoever is asked for a host: the proxy that the environment names for it, else the host itself.
struct ProxiedVerdicts: VerdictSource {
    private let verdicts = MonitoredVerdicts()
    private let proxies = ProxyEnvironment()

    func watch(_ host: String?, _ listener: @escaping @Sendable (RetryVerdict) -> Void) -> any VerdictWatch {
        verdicts.watch(host.map(proxies.asked), listener)
    }

    func ask(_ host: String?) -> RetryVerdict { verdicts.ask(host.map(proxies.asked)) }

    func isLocal(_ address: String) -> Bool { verdicts.isLocal(address) }

    func unassignedAddresses() -> [String] { verdicts.unassignedAddresses() }
}
