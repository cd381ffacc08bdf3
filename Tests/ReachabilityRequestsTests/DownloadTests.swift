import FoundationEssentials
import LinuxSupport
import NetworkLab
import Testing

@testable import ReachabilityRequests

/// Downloads from a loopback server that interrupts answers, changes the file or sends invalid header fields.
struct DownloadTests {
    private static let content = (0..<60).map { UInt8($0 + 33) }

    /// The reply of a server that supports ranges and entity tags.
    static func serve(_ content: [UInt8], tag: String? = #""v1""#, _ request: Seen) -> Reply {
        var reply = Reply()
        reply.fields["ETag"] = tag
        guard let range = request.fields["range"], request.fields["if-range"] == tag,
            let start = Int(range.dropFirst("bytes=".count).dropLast())
        else {
            reply.body = content
            return reply
        }
        guard start < content.count else {
            reply.status = 416
            reply.fields["Content-Range"] = "bytes */\(content.count)"
            return reply
        }
        reply.status = 206
        reply.fields["Content-Range"] = "bytes \(start)-\(content.count - 1)/\(content.count)"
        reply.body = Array(content[start...])
        return reply
    }

    /// A reply whose connection is closed after a number of bytes of the body.
    private static func cut(_ reply: Reply, at count: Int) -> Reply {
        guard count < reply.body.count else { return reply }
        var reply = reply
        reply.length = reply.body.count
        reply.body = Array(reply.body.prefix(count))
        reply.closes = true
        return reply
    }

    func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = "\(FileManager.default.temporaryDirectory.path)/download-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    func bytes(_ path: String) -> [UInt8]? { FileManager.default.contents(atPath: path).map { [UInt8]($0) } }

    private func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    /// Writes a part and its description, as an earlier process leaves them.
    private func leavePart(_ part: [UInt8], at path: String, of url: String, total: Int64? = 60) throws {
        try Data(part).write(to: URL(filePath: "\(path).part"))
        let known = ResumeData(url: url, validator: #""v1""#, total: total)
        try JSONEncoder().encode(known).write(to: URL(filePath: "\(path).part.json"))
    }

    @Test func `a complete file gets its name, and no other file remains`() async throws {
        try await withFolder { folder in
            try await withServer({ Self.serve(Self.content, $0) }) { lab in
                let download = try lab.session().download(lab.server.url(), to: "\(folder)/file").validate()
                let progress = download.downloadProgress()
                #expect(try await download.serializingDownloadedFileURL().value.path == "\(folder)/file")
                var last: Progress?
                for await step in progress { last = step }
                #expect(last?.completedUnitCount == 60 && last?.totalUnitCount == 60 && last?.isFinished == true)
                #expect(download.downloadProgress == last && last?.fractionCompleted == 1)
                #expect(bytes("\(folder)/file") == Self.content)
                #expect(try names(in: folder) == ["file"])
                #expect(lab.server.seen.first?.fields["accept-encoding"] == "identity")
            }
        }
    }

    @Test func `a download that is cut at any byte has the right content`() async throws {
        try await withFolder { folder in
            let count = Locked(0)
            let place = Locked(0)
            try await withServer({ request in
                let reply = Self.serve(Self.content, request)
                let isFirst = count.withLock { count in
                    count += 1
                    return count == 1
                }
                return isFirst ? Self.cut(reply, at: place.withLock { $0 }) : reply
            }) { lab in
                for cut in 0...Self.content.count {
                    count.withLock { $0 = 0 }
                    place.withLock { $0 = cut }
                    let response = try await lab.session().download(lab.server.url(), to: "\(folder)/\(cut)")
                        .serializingDownloadedFileURL().response
                    #expect(response.error == nil)
                    #expect(bytes("\(folder)/\(cut)") == Self.content)
                }
            }
            #expect(try names(in: folder).count == Self.content.count + 1)
        }
    }

    @Test func `a download that is cut repeatedly transfers few bytes twice`() async throws {
        let content = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        try await withFolder { folder in
            try await withServer({ Self.cut(Self.serve(content, $0), at: 400_000) }) { lab in
                let response = try await lab.session().download(lab.server.url(), to: "\(folder)/file")
                    .serializingDownloadedFileURL().response
                #expect(response.error == nil)
                #expect(bytes("\(folder)/file") == content)
                // A piece that is shorter than 64 KiB may be transferred twice.
                let twice = try #require(response.metrics).receivedBytes - 2_000_000
                #expect(twice < 65536 * Int64(lab.server.seen.count))
                #expect(lab.server.seen.last?.fields["range"] != nil)
            }
        }
    }

    @Test func `the complete file is validated before it gets its name, and is deleted if it is rejected`() async throws
    {
        struct Refusal: Error {}
        try await withFolder { folder in
            try await withServer({ Self.serve(Self.content, $0) }) { lab in
                try Data([1]).write(to: URL(filePath: "\(folder)/file"))
                let download = try lab.session().download(lab.server.url(), to: "\(folder)/file", replacing: true)
                download.validateFile { path in
                    #expect(FileManager.default.contents(atPath: path).map { [UInt8]($0) } == Self.content)
                    throw Refusal()
                }
                let error = await download.serializingDownloadedFileURL().response.error
                #expect(error?.underlyingError is Refusal)
                #expect(error?.isResponseValidationError == true)
                #expect(bytes("\(folder)/file") == [1])
                #expect(try names(in: folder) == ["file"])
            }
        }
    }

    @Test func `the progress reports that a download starts over, and the reason`() async throws {
        try await withFolder { folder in
            try await withServer({ Self.serve(Self.content, tag: #""v2""#, $0) }) { lab in
                let path = "\(folder)/file"
                try leavePart(Array(Self.content.prefix(20)), at: path, of: lab.server.url())
                let download = try lab.session().download(lab.server.url(), to: path)
                let progress = download.downloadProgress()
                _ = try await download.serializingDownloadedFileURL().value
                var last: Progress?
                for await step in progress { last = step }
                #expect(last?.restarts == 1)
                #expect(last?.restartReason?.hasPrefix("the server sends the whole file") == true)
                #expect(last?.isWaitingForNetwork == false)
            }
        }
    }

    @Test func `a part that an earlier process has left is continued`() async throws {
        try await withFolder { folder in
            try await withServer({ Self.serve(Self.content, $0) }) { lab in
                for count in [1, 30, 59, 60] {
                    let path = "\(folder)/\(count)"
                    try leavePart(Array(Self.content.prefix(count)), at: path, of: lab.server.url())
                    let response = try await lab.session().download(lab.server.url(), to: path).validate()
                        .serializingDownloadedFileURL().response
                    #expect(response.error == nil)
                    #expect(bytes(path) == Self.content)
                    #expect(response.metrics?.receivedBytes == 60 - Int64(count))
                    #expect(lab.server.seen.last?.fields["range"] == "bytes=\(count)-")
                    #expect(lab.server.seen.last?.fields["if-range"] == #""v1""#)
                }
                #expect(try names(in: folder) == ["1", "30", "59", "60"])
            }
        }
    }

    @Test(arguments: ["other tag", "412", "416", "other length", "coding", "no range", "another URL", "damaged note"])
    func `a part that cannot be continued is downloaded again from the beginning`(kind: String) async throws {
        try await withFolder { folder in
            try await withServer({ request in
                guard request.fields["range"] != nil else { return Self.serve(Self.content, request) }
                var reply = Self.serve(Self.content, tag: kind == "other tag" ? #""v2""# : #""v1""#, request)
                switch kind {
                case "412", "416": (reply.status, reply.body) = (Int(kind) ?? 0, [])
                case "other length": reply.fields["Content-Range"] = "bytes 10-59/61"
                case "coding": reply.fields["Content-Encoding"] = "odd"
                case "no range": reply.fields["Content-Range"] = nil
                default: break
                }
                return reply
            }) { lab in
                let path = "\(folder)/file"
                let url = lab.server.url(kind == "another URL" ? "/other" : "/")
                try leavePart(Array(repeating: 0, count: 10), at: path, of: url)
                if kind == "damaged note" { try Data("{".utf8).write(to: URL(filePath: "\(path).part.json")) }
                let response = try await lab.session().download(lab.server.url(), to: path)
                    .serializingDownloadedFileURL().response
                #expect(response.error == nil)
                #expect(bytes(path) == Self.content)
                #expect(try names(in: folder) == ["file"])
            }
        }
    }

    @Test func `a rejected answer does not change the part`() async throws {
        try await withFolder { folder in
            try await withServer({ _ in Reply("<html>", status: 404) }) { lab in
                try leavePart(Array(Self.content.prefix(10)), at: "\(folder)/file", of: lab.server.url())
                let response = try await lab.session().download(lab.server.url(), to: "\(folder)/file")
                    .serializingDownloadedFileURL().response
                #expect(response.error?.responseCode == 404 && response.response?.statusCode == 404)
                #expect(try names(in: folder) == ["file.part", "file.part.json"])
                #expect(bytes("\(folder)/file.part") == Array(Self.content.prefix(10)))
            }
        }
    }

    @Test func `a download without a strong validator starts over, and leaves no part`() async throws {
        try await withFolder { folder in
            let replies = Replies([
                Self.cut(Self.serve(Self.content, tag: "W/\"v1\"", .get), at: 10),
                Self.serve(Self.content, tag: nil, .get), Self.cut(Self.serve(Self.content, tag: nil, .get), at: 10),
            ])
            try await withServer({ _ in replies.next() }) { lab in
                #expect(
                    try await lab.session().download(lab.server.url(), to: "\(folder)/a").serializingDownloadedFileURL()
                        .value.path == "\(folder)/a"
                )
                #expect(bytes("\(folder)/a") == Self.content)
                let failed = try await lab.session().download(lab.server.url(), to: "\(folder)/b")
                    .serializingDownloadedFileURL().response
                #expect(failed.error?.isSessionTaskError == true)
                #expect(lab.server.seen.allSatisfy { $0.fields["range"] == nil })
                #expect(try names(in: folder) == ["a"])
            }
        }
    }

    @Test func `a download continues after the deadline of the policy as long as data arrives`() async throws {
        let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        try await withFolder { folder in
            try await withServer({ request in
                var reply = Self.serve(content, request)
                guard request.fields["range"] == nil else { return reply }
                (reply.length, reply.stalls) = (reply.body.count, true)
                reply.body = Array(reply.body.prefix(100_000))
                return reply
            }) { lab in
                let session = try lab.session(deadline: .seconds(10))
                let response = await session.download(lab.server.url(), to: "\(folder)/file")
                    .serializingDownloadedFileURL().response
                #expect(response.error == nil)
                #expect(bytes("\(folder)/file") == content)
                #expect(lab.server.seen.map { $0.fields["range"] } == [nil, "bytes=100000-"])
            }
        }
    }

    @Test func `a download is continued after a redirect to another server`() async throws {
        let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        try await withFolder { folder in
            try await withServer({ Self.cut(Self.serve(content, $0), at: 100_000) }) { files in
                let place = files.server.url("/file")
                try await withServer({ _ in Reply("", status: 302, fields: ["Location": place]) }) { lab in
                    let response = try await lab.session().download(lab.server.url(), to: "\(folder)/file")
                        .serializingDownloadedFileURL().response
                    #expect(response.error == nil)
                    #expect(bytes("\(folder)/file") == content)
                    #expect(files.server.seen.last?.fields["range"] != nil)
                }
            }
        }
    }

    @Test func `an existing file is replaced only if the caller permits it`() async throws {
        try await withFolder { folder in
            try await withServer({ Self.serve(Self.content, $0) }) { lab in
                let path = "\(folder)/file"
                try Data("old".utf8).write(to: URL(filePath: path))
                let refused = try await lab.session().download(lab.server.url(), to: path)
                    .serializingDownloadedFileURL().response
                #expect(refused.error?.description.contains("it exists; remove it") == true)
                #expect(lab.server.seen.isEmpty && bytes(path) == Array("old".utf8))
                _ = try await lab.session().download(lab.server.url(), to: path, replacing: true)
                    .serializingDownloadedFileURL().value
                #expect(bytes(path) == Self.content)
            }
        }
    }

    @Test(arguments: ["", "/", "/.", "/..", "/a\0b"])
    func `an invalid file name is an error before a request is sent`(name: String) async throws {
        try await withFolder { folder in
            try await withServer({ Self.serve(Self.content, $0) }) { lab in
                let path = name.isEmpty ? folder : "\(folder)\(name)"
                let download = try lab.session().download(lab.server.url(), to: path, replacing: true)
                #expect(await download.serializingDownloadedFileURL().response.error != nil)
                #expect(try names(in: folder).isEmpty && lab.server.seen.isEmpty)
            }
        }
    }

    @Test func `a file that was created during the download is not replaced, and the part remains`() async throws {
        try await withFolder { folder in
            let path = "\(folder)/file"
            try await withServer({ request in
                try? Data("new".utf8).write(to: URL(filePath: path))
                return Self.serve(Self.content, request)
            }) { lab in
                let response = try await lab.session().download(lab.server.url(), to: path)
                    .serializingDownloadedFileURL().response
                #expect(response.error?.isDownloadedFileMoveError == true)
                #expect(bytes(path) == Array("new".utf8) && bytes("\(path).part") == Self.content)
            }
        }
    }

    @Test func `a downloaded file has the mode of any new file`() async throws {
        try await withFolder { folder in
            try await withServer({ Self.serve(Self.content, $0) }) { lab in
                try Data().write(to: URL(filePath: "\(folder)/other"))
                _ = try await lab.session().download(lab.server.url(), to: "\(folder)/file")
                    .serializingDownloadedFileURL().value
                let modes = try ["file", "other"].map {
                    try FileManager.default.attributesOfItem(atPath: "\(folder)/\($0)")[.posixPermissions] as? Int
                }
                #expect(modes[0] == modes[1] && modes[0] != nil)
            }
        }
    }

    @Test func `a second download to the same file is refused until the first one is cancelled`() async throws {
        try await withFolder { folder in
            let isSilent = Locked(true)
            try await withServer({ isSilent.withLock { $0 } ? .silence : Self.serve(Self.content, $0) }) { lab in
                let session = try lab.session()
                let first = session.download(lab.server.url(), to: "\(folder)/file")
                async let response = first.serializingDownloadedFileURL().response
                for await _ in lab.server.arrivals { break }
                let second = await session.download(lab.server.url(), to: "\(folder)/file")
                    .serializingDownloadedFileURL().response
                #expect(second.error?.description.contains("another download") == true)
                first.cancel()
                #expect(await response.error?.isExplicitlyCancelledError == true)
                isSilent.withLock { $0 = false }
                _ = try await session.download(lab.server.url(), to: "\(folder)/file").serializingDownloadedFileURL()
                    .value
                #expect(bytes("\(folder)/file") == Self.content)
            }
        }
    }

    @Test func `the lock of a file ends with its download`() throws {
        let folder = "\(FileManager.default.temporaryDirectory.path)/download-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = try PartialDownload("\(folder)/file", url: "http://h/", isResuming: true) { _ in }
        #expect(throws: AFError.self) {
            try PartialDownload("\(folder)/file", url: "http://h/", isResuming: true) { _ in }
        }
        first.leave()
        let second = try PartialDownload("\(folder)/file", url: "http://h/", isResuming: true) { _ in }
        second.leave()
        #expect(first !== second)
    }

    @Test func `a download can start immediately after a cancelled one has ended`() async throws {
        try await withFolder { folder in
            try await withServer({ $0.path == "/silent" ? .silence : Self.serve(Self.content, $0) }) { lab in
                let session = try lab.session()
                for round in 0..<20 {
                    let first = session.download(lab.server.url("/silent"), to: "\(folder)/\(round)")
                    async let response = first.serializingDownloadedFileURL().response
                    for await _ in lab.server.arrivals { break }
                    first.cancel()
                    #expect(await response.error?.isExplicitlyCancelledError == true)
                    let second = await session.download(lab.server.url(), to: "\(folder)/\(round)")
                        .serializingDownloadedFileURL().response
                    #expect(second.error == nil && bytes("\(folder)/\(round)") == Self.content)
                    for await _ in lab.server.arrivals { break }
                }
            }
        }
    }

    @Test(arguments: [204, 205, 200], [nil, "application/json"])
    func `an answer without a body passes validation and becomes an empty file`(
        status: Int,
        accept: String?
    ) async throws {
        try await withFolder { folder in
            let server = try ScriptedServer { _ in
                let length = status == 200 ? "Content-Length: 0\r\n" : ""
                return ScriptedReply("HTTP/1.1 \(status) x\r\n\(length)Connection: close\r\n\r\n", then: .close)
            }
            defer { server.stop() }
            try await withServer({ _ in Reply() }) { lab in
                let headers = accept.map { HTTPHeaders([.accept($0)]) } ?? HTTPHeaders()
                let request = try lab.session().download(server.url(), to: "\(folder)/file", headers: headers)
                    .validate()
                let response = await request.serializingDownloadedFileURL().response
                #expect(response.error == nil && response.response?.statusCode == status)
                #expect(bytes("\(folder)/file") == [])
            }
        }
    }

    @Test func `a validation that is added before the file gets its name deletes a rejected file`() async throws {
        try await withFolder { folder in
            try await withServer({ Self.serve(Self.content, $0) }) { lab in
                let session = try lab.session(startRequestsImmediately: false)
                let download = session.download(lab.server.url(), to: "\(folder)/file")
                let (added, add) = AsyncStream.makeStream(of: Void.self)
                let (looked, look) = AsyncStream.makeStream(of: Void.self)
                download.validateFile { _ in
                    look.yield()
                    for await _ in added { break }
                }
                download.resume()
                for await _ in looked { break }
                download.validate(statusCode: [418])
                add.yield()
                #expect(await download.serializingDownloadedFileURL().response.error?.responseCode == 200)
                #expect(try names(in: folder).isEmpty)
            }
        }
    }

    @Test func `a symbolic link as the part and a missing directory are errors before a request is sent`()
        async throws
    {
        try await withFolder { folder in
            try await withServer({ Self.serve(Self.content, $0) }) { lab in
                try Data("keep".utf8).write(to: URL(filePath: "\(folder)/victim"))
                try FileManager.default.createSymbolicLink(
                    atPath: "\(folder)/file.part",
                    withDestinationPath: "\(folder)/victim"
                )
                for path in ["\(folder)/file", "\(folder)/none/file"] {
                    let response = try await lab.session().download(lab.server.url(), to: path)
                        .serializingDownloadedFileURL().response
                    #expect(response.error?.description.contains("cannot write") == true)
                }
                #expect(bytes("\(folder)/victim") == Array("keep".utf8) && lab.server.seen.isEmpty)
            }
        }
    }

    @Test func `an answer with a range that was not requested is an error`() async throws {
        try await withFolder { folder in
            try await withServer({ _ in Reply("x", status: 206, fields: ["Content-Range": "bytes 0-0/9"]) }) { lab in
                let response = try await lab.session().download(lab.server.url(), to: "\(folder)/file")
                    .serializingDownloadedFileURL().response
                #expect(response.error?.description.contains("the whole file was requested") == true)
                #expect(try names(in: folder).isEmpty)
            }
        }
    }
}

extension Seen {
    fileprivate static let get = Seen(method: "GET", path: "/", fields: [:], body: [])
}
