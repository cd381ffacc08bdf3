import Foundation
import FoundationNetworking
import ReachabilityRetry

extension URLRequest {
    /// As adapters see it.
    var plain: PlainRequest {
        let fields = (allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
        return PlainRequest(
            method: RequestMethod(rawValue: httpMethod ?? "GET"),
            url: url?.absoluteString ?? "",
            fields: fields.map { PlainRequest.Field(name: $0.key, value: $0.value) }
        )
    }

    /// The request of a hop, as an adapter wants it.
    ///
    /// - Throws: `URLError.badURL` where its URL is none.
    func adapted(to hop: RedirectHop, timeout: Duration?) throws -> URLRequest {
        let plain = hop.traced
        guard let url = URL(string: plain.url) else { throw URLError(.badURL) }
        var request = self
        if !hop.hasBody { (request.httpBody, request.httpBodyStream) = (nil, nil) }
        request.url = url
        request.httpMethod = plain.method.rawValue
        request.allHTTPHeaderFields = nil
        for field in plain.fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
        if let timeout { request.timeoutInterval = timeout / .seconds(1) }
        return request
    }
}
