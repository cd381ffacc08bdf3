import Foundation
import FoundationNetworking
import LinuxSupport

extension URLSession {
    /// Runs a task of one attempt with a delegate of its own, which the asynchronous functions on Linux do not ask; it is cancelled with the task it
    /// is called in.
    ///
    /// - Parameters:
    ///   - watch: Keeps redirects from being followed.
    ///   - make: Makes the task, which ends with its argument.
    func run<Value: Sendable>(
        _ watch: RedirectWatch,
        _ make: (@escaping @Sendable (Value?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
    ) async throws -> (Value, URLResponse) {
        let state = Locked<(task: URLSessionTask?, isCancelled: Bool)>((nil, false))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let task = make { value, response, error in
                    guard let value, let response else {
                        return continuation.resume(throwing: error ?? URLError(.badServerResponse))
                    }
                    continuation.resume(returning: (value, response))
                }
                task.delegate = watch
                let isCancelled = state.withLock { state in
                    state.task = task
                    return state.isCancelled
                }
                task.resume()
                if isCancelled { task.cancel() }
            }
        } onCancel: {
            let task = state.withLock { state in
                state.isCancelled = true
                return state.task
            }
            task?.cancel()
        }
    }

    /// As ``run(_:_:)``, with the file kept that a download is put into.
    func runDownload(_ request: URLRequest, _ watch: RedirectWatch) async throws -> (URL, URLResponse) {
        try await run(watch) { end in
            downloadTask(with: request) { file, response, error in
                guard let file else { return end(nil, response, error) }
                let kept = FileManager.default.temporaryDirectory.appendingPathComponent(
                    "download-\(UUID().uuidString)"
                )
                do {
                    try FileManager.default.moveItem(at: file, to: kept)
                    end(kept, response, error)
                } catch {
                    end(nil, response, error)
                }
            }
        }
    }
}
