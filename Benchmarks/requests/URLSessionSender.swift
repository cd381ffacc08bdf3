import Foundation
import FoundationNetworking

/// URLSession of swift-corelibs-foundation.
struct URLSessionSender: Sender {
    private let session = URLSession(configuration: .ephemeral)

    func get(_ url: String) async throws {
        let (_, response) = try await session.data(for: request(url))
        try check(response)
    }

    func download(_ url: String, to path: String) async throws {
        let (file, response) = try await session.download(for: request(url))
        try check(response)
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(at: file, to: URL(filePath: path))
    }

    func upload(_ path: String, to url: String) async throws {
        var request = try request(url)
        request.httpMethod = "PUT"
        let (_, response) = try await session.upload(for: request, fromFile: URL(filePath: path))
        try check(response)
    }

    private func request(_ url: String) throws -> URLRequest {
        guard let url = URL(string: url) else { throw URLError(.badURL) }
        return URLRequest(url: url)
    }

    private func check(_ response: URLResponse) throws {
        try UnexpectedStatus.check((response as? HTTPURLResponse)?.statusCode ?? 0)
    }
}
