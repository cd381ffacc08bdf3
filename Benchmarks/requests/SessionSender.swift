import FoundationEssentials
import ReachabilityRequests

/// A session of ReachabilityRequests with its defaults.
struct SessionSender: Sender {
    private let session = Session()

    func get(_ url: String) async throws {
        let response = await session.request(url).serializingData().response
        _ = try response.result.get()
        try UnexpectedStatus.check(response.response?.statusCode ?? 0)
    }

    func download(_ url: String, to path: String) async throws {
        _ = try await session.download(url, to: path, replacing: true).serializingDownloadedFileURL().value
    }

    func upload(_ path: String, to url: String) async throws {
        let response = await session.upload(URL(filePath: path), to: url, method: .put).serializingData().response
        _ = try response.result.get()
        try UnexpectedStatus.check(response.response?.statusCode ?? 0)
    }
}
