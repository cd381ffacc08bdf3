import FoundationEssentials
import LinuxSupport
import Testing

@testable import ReachabilityRequests

/// Downloads whose place is chosen by a closure, as in Alamofire.
struct DestinationTests {
    private struct Item: Codable, Hashable, Sendable { var number: Int }

    private let text = #"{"number":7}"#

    private func response<Value: Sendable>(
        _ add: (@escaping @Sendable (AFDownloadResponse<Value>) -> Void) -> DownloadRequest
    ) async -> AFDownloadResponse<Value> {
        await withCheckedContinuation { continuation in _ = add { continuation.resume(returning: $0) } }
    }

    @Test func `without a destination the file of any status is in the temporary directory`() async throws {
        try await withServer({ Reply(text, status: Int($0.path.dropFirst()) ?? 200) }) { lab in
            for status in [200, 404, 500] {
                let download = try lab.session().overriding { $0.policy = .singleAttempt }
                    .download(lab.server.url("/\(status)"))
                let response: AFDownloadResponse<URL?> = await response { download.response(completionHandler: $0) }
                let url = try #require(try response.result.get())
                #expect(response.response?.statusCode == status && response.fileURL == url && download.fileURL == url)
                #expect(url.path.hasPrefix(FileManager.default.temporaryDirectory.path))
                #expect(url.lastPathComponent.hasPrefix("Alamofire_"))
                #expect(try String(decoding: Data(contentsOf: url), as: UTF8.self) == text)
                #expect(response.resumeData == nil && response.debugDescription.contains("[File]: \(url.path)"))
                try FileManager.default.removeItem(at: url)
            }
        }
    }

    @Test func `handlers and tasks read the downloaded file`() async throws {
        try await withServer({ _ in Reply(text, type: "application/json") }) { lab in
            let download = try lab.session().download(lab.server.url()).validate()
            let url: AFDownloadResponse<URL> = await response { download.responseURL(completionHandler: $0) }
            defer { url.value.map { try? FileManager.default.removeItem(at: $0) } }
            let data: AFDownloadResponse<Data> = await response { download.responseData(completionHandler: $0) }
            let string: AFDownloadResponse<String> = await response { download.responseString(completionHandler: $0) }
            let item: AFDownloadResponse<Item> = await response { handler in
                download.responseDecodable(of: Item.self, completionHandler: handler)
            }
            #expect(data.value == Data(text.utf8) && string.value == text && item.value == Item(number: 7))
            #expect(try await download.serializingData().value == Data(text.utf8))
            #expect(try await download.serializingString().value == text)
            #expect(try await download.serializingDecodable(Item.self).value == Item(number: 7))
            #expect(try await download.serializingDownload(using: URLResponseSerializer()).value == url.value)
            #expect(lab.server.seen.count == 1 && download.isFinished)
        }
    }

    @Test func `a destination closure chooses the place, and its options create directories and replace files`()
        async throws
    {
        try await withFolder { folder in
            try await withServer({ _ in
                Reply(text, fields: ["Content-Disposition": "attachment; filename=\"../n.txt\""])
            }) {
                lab in
                let session = try lab.session()
                let root = URL(filePath: folder)
                let seen = Locked<[Int]>([])
                func download(_ name: String, _ options: DownloadRequest.Options) async -> AFDownloadResponse<URL> {
                    await session.download(
                        lab.server.url(),
                        to: { temporary, response in
                            let size = FileName.size(of: temporary.path) ?? -1
                            seen.withLock { $0.append(Int(size) + response.statusCode) }
                            return (root.appending(path: name), options)
                        }
                    ).serializingDownloadedFileURL().response
                }
                let missing = await download("a/b/file", [])
                #expect(missing.error?.isDownloadedFileMoveError == true && missing.fileURL == nil)
                guard case .downloadedFileMoveFailed(_, _, let place)? = missing.error else {
                    return #expect(Bool(false), "\(missing)")
                }
                #expect(place.path == "\(folder)/a/b/file")
                let made = await download("a/b/file", .createIntermediateDirectories)
                #expect(made.value?.path == "\(folder)/a/b/file" && made.error == nil)
                let taken = await download("a/b/file", [])
                #expect(taken.error?.isDownloadedFileMoveError == true)
                #expect(await download("a/b/file", [.removePreviousFile]).error == nil)
                #expect(seen.withLock { $0 } == Array(repeating: text.utf8.count + 200, count: 4))
                try FileManager.default.removeItem(atPath: "\(folder)/a")
            }
        }
    }

    @Test func `a closure validates the file, and a rejected file is deleted`() async throws {
        struct Refusal: Error {}
        try await withServer({ _ in Reply(text) }) { lab in
            let content = Locked("")
            let download = try lab.session(startRequestsImmediately: false).download(lab.server.url())
                .validate { request, response, file in
                    let data = file.flatMap { try? Data(contentsOf: $0) } ?? Data()
                    content.withLock { $0 = String(decoding: data, as: UTF8.self) }
                    return response.statusCode == 200 && request != nil ? .failure(Refusal()) : .success(())
                }
            let response = await download.serializingDownloadedFileURL().response
            #expect(response.error?.underlyingError is Refusal && response.fileURL == nil)
            #expect(content.withLock { $0 } == text && FileName.size(of: "\(download.path).part") == nil)
            let rejected = try lab.session().download(lab.server.url()).validate(statusCode: [418])
            #expect(await rejected.serializingDownloadedFileURL().response.error?.responseCode == 200)
        }
    }

    /// Replies with the first half and keeps the connection open. A range request receives the rest.
    private static func half(of content: [UInt8]) -> @Sendable (Seen) -> Reply {
        { request in
            var reply = DownloadTests.serve(content, request)
            guard request.fields["range"] == nil else { return reply }
            (reply.length, reply.stalls) = (content.count, true)
            reply.body = Array(content.prefix(content.count / 2))
            return reply
        }
    }

    private func untilHalf(_ download: DownloadRequest, of count: Int) async {
        for await step in download.downloadProgress() where step.completedUnitCount >= Int64(count / 2) { return }
    }

    @Test func `a cancelled download is continued with its resume data`() async throws {
        let content = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        try await withServer(Self.half(of: content)) { lab in
            let session = try lab.session()
            let headers: HTTPHeaders = [.authorization("secret")]
            let first = session.download(lab.server.url(), headers: headers)
            await untilHalf(first, of: content.count)
            let cancelled = await first.cancel(producingResumeData: true).serializingDownloadedFileURL().response
            let known = try #require(cancelled.resumeData)
            #expect(
                first.isCancelled && first.resumeData == known && FileName.size(of: "\(first.path).part") == 200_000
            )
            let second = session.download(resumingWith: known)
            let url = try await second.serializingDownloadedFileURL().value
            #expect(try Data(contentsOf: url) == Data(content))
            #expect(lab.server.seen.map { $0.fields["range"] } == [nil, "bytes=200000-"])
            #expect(lab.server.seen.last?.fields["authorization"] == "secret")
            try FileManager.default.removeItem(at: url)
        }
    }

    @Test func `a download that is cancelled without resume data leaves no file`() async throws {
        let content = [UInt8](repeating: 7, count: 400_000)
        try await withServer(Self.half(of: content)) { lab in
            let download = try lab.session().download(lab.server.url())
            await untilHalf(download, of: content.count)
            download.cancel()
            let response = await download.serializingDownloadedFileURL().response
            #expect(response.error?.isExplicitlyCancelledError == true && response.resumeData == nil)
            #expect(FileName.size(of: "\(download.path).part") == nil && FileName.size(of: download.path) == nil)
            let broken = try lab.session().download(resumingWith: Data("x".utf8))
            let error = await broken.serializingDownloadedFileURL().response.error
            #expect(error?.description.contains("the resume data is damaged") == true)
        }
    }
}
