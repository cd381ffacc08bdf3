import Foundation
import FoundationNetworking
import ReachabilityRetry
import ReachabilityURLSession

@MainActor final class Downloader {
    private var downloads = 0

    func download(_ url: URL) async throws -> Data {
        let outcome = try await URLSession.shared.data(for: URLRequest(url: url), retry: .standard)
        downloads += 1
        return outcome.value.0
    }
}
