import AsyncHTTPClient
import Foundation
import FoundationNetworking
import ReachabilityHTTP
import ReachabilityOutbox
import ReachabilityRetry
import ReachabilityURLSession

// Nobody says here what is reachable. With the trait Netlink that is the kernel's word; without it none of these lines may compile.
func silent(_ target: RetryTarget, _ request: HTTPClientRequest, _ url: URLRequest, _ outbox: Outbox) async throws {
    _ = RetryCoordinator()
    _ = RetryCoordinator.shared
    _ = RequestRetryOptions()
    _ = try OfflineRetrier()
    _ = MonitoredVerdicts()
    _ = try await withRetry(target: target) { $0 }
    _ = try await RetryingHTTPClient.shared.execute(request, retry: .standard)
    _ = try await URLSession.shared.data(for: url, retry: .standard)
    _ = try await URLSession.shared.upload(for: url, from: Data(), retry: .standard)
    _ = try await URLSession.shared.download(for: url, retry: .standard)
    _ = try await outbox.flush(sender: Taker())
    _ = try await outbox.run(sender: Taker())
}
