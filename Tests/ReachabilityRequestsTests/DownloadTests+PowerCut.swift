import FoundationEssentials
import Testing

@testable import ReachabilityRequests

/// Downloads after the machine has stopped. Data that was not synchronized to the disk may have any content.
extension DownloadTests {
    @Test func `the part that is certainly on the disk is a multiple of 64 MiB`() {
        let piece: Int64 = 67_108_864
        let rows: [(size: Int64, synced: Int64)] = [
            (0, 0), (1, 0), (piece, 0), (piece + 1, piece), (2 * piece, piece), (3 * piece - 1, 2 * piece),
        ]
        for row in rows { #expect(PartialDownload.synced(of: row.size) == row.synced) }
    }

    @Test(arguments: [true, false])
    func `after a restart of the machine a download continues from the part that was written to the disk`(
        isOther: Bool
    ) async throws {
        let (synced, rest) = (64 << 20, 3 << 20)
        let content = [UInt8](repeating: 1, count: synced) + [UInt8](repeating: 2, count: rest)
        try await withFolder { folder in
            try await withServer({ Self.serve(content, $0) }) { lab in
                let path = "\(folder)/file"
                // After another boot the last mebibyte has the right size and the wrong content.
                let last: [UInt8] = Array(repeating: isOther ? 0 : 2, count: 1 << 20)
                try Data(content.prefix(synced) + last).write(to: URL(filePath: "\(path).part"))
                var known = ResumeData(url: lab.server.url(), validator: #""v1""#, total: Int64(content.count))
                known.boot = isOther ? "another" : ResumeData.currentBoot
                try JSONEncoder().encode(known).write(to: URL(filePath: "\(path).part.json"))
                let response = try await lab.session().download(lab.server.url(), to: path)
                    .serializingDownloadedFileURL().response
                #expect(response.error == nil)
                #expect(bytes(path) == content)
                let place = synced + (isOther ? 0 : last.count)
                #expect(lab.server.seen.map { $0.fields["range"] } == ["bytes=\(place)-"])
            }
        }
    }

    @Test func `the file beside a part contains the identity of the boot that has written it`() async throws {
        try await withFolder { folder in
            try await withServer({ request in
                guard request.fields["range"] == nil else { return Reply(status: 404) }
                var reply = Self.serve([1, 2, 3], request)
                (reply.length, reply.closes, reply.body) = (3, true, [1])
                return reply
            }) { lab in
                let session = try lab.session()
                _ = await session.download(lab.server.url(), to: "\(folder)/file").serializingDownloadedFileURL()
                    .response
                let note = try #require(FileManager.default.contents(atPath: "\(folder)/file.part.json"))
                let known = try JSONDecoder().decode(ResumeData.self, from: note)
                #expect(known.boot == ResumeData.currentBoot && known.boot?.isEmpty == false)
            }
        }
    }
}
