import FoundationEssentials
import LinuxSupport
import Testing

@testable import ReachabilityRequests

/// Uploads to a loopback server.
struct UploadTests {
    @Test func `data, files, streams and forms arrive complete, with their length`() async throws {
        let path = "\(FileManager.default.temporaryDirectory.path)/upload-\(UUID())"
        let content = [UInt8]((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
        try Data(content).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await withServer({ _ in Reply("ok") }) { lab in
            // Each request is sent when a task waits for its answer.
            let session = try lab.session(startRequestsImmediately: false)
            let form = MultipartFormData()
            form.append("one".utf8, withName: "part")
            form.append(URL(filePath: path), withName: "file")
            let url = lab.server.url()
            for upload in [
                session.upload(Data(content), to: url), session.upload(URL(filePath: path), to: url),
                session.upload(multipartFormData: form, to: url),
                session.upload(InputStream(data: Data(content)), to: url),
                session.upload(try #require(InputStream(fileAtPath: path)), to: url, method: .put),
                session.upload(multipartFormData: { $0.append("one".utf8, withName: "part") }, to: url),
            ] {
                #expect(try await upload.validate().serializingString().value == "ok")
            }
            let seen = lab.server.seen
            #expect(seen[0].body == content && seen[1].body == content)
            let whole = [UInt8](try form.encode())
            #expect(seen[2].body == whole)
            let lengths = seen.map { $0.fields["content-length"] }
            #expect(lengths.prefix(5) == ["300000", "300000", "\(whole.count)", "300000", "300000"])
            #expect(seen[3].body == content && seen[4].body == content && seen[4].method == "PUT")
            #expect(String(decoding: seen[5].body, as: UTF8.self).contains("name=\"part\"\r\n\r\none\r\n"))
            #expect(seen[2].fields["content-type"] == form.contentType)
        }
    }

    /// A clock that counts and skips waits of an hour or longer. The waits of the retry engine are shorter.
    private struct SkippingClock: Clock {
        let longWaits = Locked(0)

        var now: ContinuousClock.Instant { ContinuousClock.now }
        var minimumResolution: Duration { ContinuousClock().minimumResolution }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            guard now.duration(to: deadline) > .seconds(1800) else {
                return try await ContinuousClock().sleep(until: deadline)
            }
            longWaits.withLock { $0 += 1 }
        }
    }

    @Test func `a throttled body is sent in packets, with a delay before each`() async throws {
        let path = "\(FileManager.default.temporaryDirectory.path)/throttle-\(UUID())"
        let content = [UInt8]((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        try Data(content).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await withServer({ _ in Reply("ok") }) { lab in
            let url = lab.server.url()
            func delays(_ upload: (Session) throws -> UploadRequest) async throws -> Int {
                let clock = SkippingClock()
                let session = try lab.session(startRequestsImmediately: false).overriding { $0.options.clock = clock }
                #expect(try await upload(session).serializingString().value == "ok")
                return clock.longWaits.withLock { $0 }
            }
            let file = try #require(InputStream(fileAtPath: path))
            let packets = try await delays { $0.upload(file.throttled(packetSize: 16 << 10, delay: 3600), to: url) }
            // 64 KiB are four packets.
            #expect(packets == 13)
            let form = MultipartFormData()
            form.append(Data(content), withName: "part")
            form.throttleBandwidth(withPacketSize: 100_000, delay: 3600)
            #expect(try await delays { $0.upload(multipartFormData: form, to: url) } == 5)
            // Packets of a byte, without a delay.
            let bytes = InputStream(data: Data("one".utf8)).throttled(packetSize: 0, delay: .nan)
            #expect(try await delays { $0.upload(bytes, to: url) } == 0)
            let whole = [UInt8](try form.encode())
            #expect(lab.server.seen.map(\.body) == [content, whole, Array("one".utf8)])
        }
    }

    @Test func `the progress of an upload is reported, and ends with the request`() async throws {
        let path = "\(FileManager.default.temporaryDirectory.path)/upload-\(UUID())"
        try Data(repeating: 7, count: 300_000).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await withServer({ _ in Reply("ok") }) { lab in
            let bodies: [any UploadableConvertible] = [Data(repeating: 7, count: 300_000), URL(filePath: path)]
            for body in bodies {
                let request = try lab.session().upload(try body.createUploadable(), to: lab.server.url())
                let progress = request.uploadProgress()
                _ = try await request.serializingString().value
                var last: Progress?
                for await step in progress { last = step }
                #expect(last?.completedUnitCount == 300_000 && last?.isFinished == true)
                let steps = await request.uploadProgress().reduce(into: []) { $0.append($1) }
                #expect(steps == [request.uploadProgress] && steps.first?.totalUnitCount == 300_000)
                let handled = await withCheckedContinuation { continuation in
                    request.uploadProgress { continuation.resume(returning: $0) }
                }
                #expect(handled == last)
            }
            for await _ in try lab.session().request(lab.server.url()).uploadProgress() {
                Issue.record("a request without a body reports the progress of an upload")
            }
        }
    }

    @Test func `the file of an upload is sent again only if the request is idempotent`() async throws {
        let path = "\(FileManager.default.temporaryDirectory.path)/upload-\(UUID())"
        try Data("abc".utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let replies = Replies([Reply(status: 503), Reply("ok"), Reply(status: 503)])
        try await withServer({ _ in replies.next() }) { lab in
            let session = try lab.session()
            #expect(
                try await session.upload(URL(filePath: path), to: lab.server.url(), method: .put).serializingString()
                    .value == "ok"
            )
            let post = await session.upload(URL(filePath: path), to: lab.server.url()).serializingData().response
            #expect(post.response?.statusCode == 503)
            #expect(lab.server.seen.map(\.body) == Array(repeating: Array("abc".utf8), count: 3))
        }
    }

    @Test func `an unreadable file is an error, and no request is sent`() async throws {
        try await withServer({ _ in Reply("ok") }) { lab in
            let request = try lab.session().upload(URL(filePath: "/nonexistent/file"), to: lab.server.url())
            let error = await request.serializingData().response.error
            #expect(error?.description.hasPrefix("cannot read the body of the upload: ") == true)
            #expect(lab.server.seen.isEmpty)
        }
    }

    @Test func `a form whose file has changed is an error, and no request is sent`() async throws {
        let path = "\(FileManager.default.temporaryDirectory.path)/upload-\(UUID())"
        try Data("abc".utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let form = MultipartFormData()
        form.append(URL(filePath: path), withName: "file")
        try Data("abcd".utf8).write(to: URL(filePath: path))
        try await withServer({ _ in Reply("ok") }) { lab in
            let request = try lab.session().upload(multipartFormData: form, to: lab.server.url())
            let error = await request.serializingData().response.error
            #expect((error?.underlyingError as? FileSizeChanged)?.now == 4 && error?.isMultipartEncodingError == true)
            #expect(lab.server.seen.isEmpty)
        }
    }

    @Test func `a form sets the content type, and is encoded in memory below the threshold`() async throws {
        try await withServer({ _ in Reply("ok") }) { lab in
            let session = try lab.session()
            let headers: HTTPHeaders = ["Content-Type": "multipart/form-data"]
            let short = session.upload(
                multipartFormData: { $0.append(Data("one".utf8), withName: "a") },
                to: lab.server.url(),
                headers: headers
            )
            let long = session.upload(
                multipartFormData: { $0.append(Data("one".utf8), withName: "a") },
                to: lab.server.url(),
                usingThreshold: 3
            )
            for request in [short, long] { #expect(try await request.serializingString().value == "ok") }
            #expect(
                lab.server.seen.allSatisfy {
                    $0.fields["content-type"]?.hasPrefix("multipart/form-data; boundary=") == true
                }
            )
            if case .data? = short.uploadable {} else { Issue.record("a short form is not in memory") }
            if case .file(_, shouldRemove: true)? = long.uploadable {} else { Issue.record("a long form is in memory") }
        }
    }

    @Test func `a form with a stream is sent again completely for a retry`() async throws {
        let path = "\(FileManager.default.temporaryDirectory.path)/upload-\(UUID())"
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        try content.write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let replies = Replies([Reply(status: 503), Reply("ok")])
        try await withServer({ _ in replies.next() }) { lab in
            let form = MultipartFormData(boundary: "b")
            let stream = try #require(InputStream(fileAtPath: path))
            form.append(stream, withLength: 200_000, name: "s", fileName: "s.bin", mimeType: "application/octet-stream")
            let request = try lab.session().upload(multipartFormData: form, to: lab.server.url(), method: .put)
            #expect(try await request.serializingString().value == "ok")
            let whole = [UInt8](try form.encode())
            #expect(lab.server.seen.map(\.body) == [whole, whole])
        }
    }
}
