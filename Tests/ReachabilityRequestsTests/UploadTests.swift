import FoundationEssentials
import Testing

@testable import ReachabilityRequests

/// Bodies that are sent.
struct UploadTests {
    @Test func `bytes, a file and a form arrive whole, with their length`() async throws {
        let path = "\(FileManager.default.temporaryDirectory.path)/upload-\(UUID())"
        let content = [UInt8]((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
        try Data(content).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await withServer({ _ in Reply("ok") }) { lab in
            let session = try lab.session()
            var form = MultipartFormData()
            form.append("one".utf8, withName: "part")
            try form.append(fileAt: path, withName: "file")
            for body in [RequestBody.bytes(content), .file(path), .multipart(form)] {
                #expect(try await session.upload(body, to: lab.server.url()).validate().string() == "ok")
            }
            let seen = lab.server.seen
            #expect(seen[0].body == content && seen[1].body == content)
            let whole = try form.encode()
            #expect(seen[2].body == whole)
            #expect(seen.map { $0.fields["content-length"] } == ["300000", "300000", "\(form.contentLength)"])
            #expect(seen[2].fields["content-type"] == form.contentType)
        }
    }

    @Test func `the progress of a body is told, and is over with the request`() async throws {
        let path = "\(FileManager.default.temporaryDirectory.path)/upload-\(UUID())"
        try Data(repeating: 7, count: 300_000).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await withServer({ _ in Reply("ok") }) { lab in
            for body in [RequestBody.bytes(Array(repeating: 7, count: 300_000)), .file(path)] {
                let request = try lab.session().upload(body, to: lab.server.url())
                let progress = request.uploadProgress
                _ = try await request.string()
                var last: UploadProgress?
                for await step in progress { last = step }
                #expect(last == UploadProgress(completed: 300_000, total: 300_000))
                let steps = await request.uploadProgress.reduce(into: []) { $0.append($1) }
                #expect(steps == [UploadProgress(completed: 300_000, total: 300_000)])
            }
            for await _ in try lab.session().request(lab.server.url()).uploadProgress { Issue.record("of what?") }
        }
    }

    @Test func `a file is sent again where that does no harm`() async throws {
        let path = "\(FileManager.default.temporaryDirectory.path)/upload-\(UUID())"
        try Data("abc".utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let replies = Replies([Reply(status: 503), Reply("ok"), Reply(status: 503)])
        try await withServer({ _ in replies.next() }) { lab in
            let session = try lab.session()
            #expect(try await session.upload(.file(path), to: lab.server.url(), method: .put).string() == "ok")
            let post = await session.upload(.file(path), to: lab.server.url()).response(using: DataResponseSerializer())
            #expect(post.response?.statusCode == 503)
            #expect(lab.server.seen.map(\.body) == Array(repeating: Array("abc".utf8), count: 3))
        }
    }

    @Test func `a file that cannot be read is said so, and nothing is sent`() async throws {
        try await withServer({ _ in Reply("ok") }) { lab in
            let request = try lab.session().upload(.file("/nonexistent/file"), to: lab.server.url())
            let error = await request.response(using: DataResponseSerializer()).error
            guard case .createUploadableFailed? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(lab.server.seen.isEmpty)
        }
    }

    @Test func `a form whose file has changed is an error`() async throws {
        let path = "\(FileManager.default.temporaryDirectory.path)/upload-\(UUID())"
        try Data("abc".utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        var form = MultipartFormData()
        try form.append(fileAt: path, withName: "file")
        try Data("abcd".utf8).write(to: URL(filePath: path))
        try await withServer({ _ in Reply("ok") }) { [form] lab in
            let request = try lab.session().upload(.multipart(form), to: lab.server.url())
            let error = await request.response(using: DataResponseSerializer()).error
            guard case .multipartEncodingFailed(.bodyPartFileSizeChanged)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(lab.server.seen.isEmpty)
        }
    }
}
