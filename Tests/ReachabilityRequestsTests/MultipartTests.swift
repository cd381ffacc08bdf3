import FoundationEssentials
import Glibc
import LinuxSupport
import Testing

@testable import ReachabilityRequests

/// Multipart forms with the expectations of Alamofire's tests. Intended differences: names are escaped, and a file that changes is an error.
struct MultipartTests {
    @Test func `an encoded form has boundaries around its parts and the announced length`() throws {
        let form = MultipartFormData(boundary: "b")
        #expect(form.contentType == "multipart/form-data; boundary=b")
        #expect(String(decoding: try form.encode(), as: UTF8.self) == "--b--\r\n" && form.contentLength == 0)
        form.append(Data("one".utf8), withName: "a")
        form.append(Data("two".utf8), withName: "c", fileName: "d.txt", mimeType: "text/plain")
        let text = String(decoding: try form.encode(), as: UTF8.self)
        #expect(
            text
                == "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n--b\r\nContent-Disposition: form-data; name=\"c\"; "
                + "filename=\"d.txt\"\r\nContent-Type: text/plain\r\n\r\ntwo\r\n--b--\r\n"
        )
        #expect(form.contentLength == 6)
        #expect(InputStream(pieces: try form.pieces()).length == Int64(text.utf8.count))
    }

    @Test(arguments: [
        ("a\"b", "a%22b"), ("a\r\nContent-Type: x", "a%0D%0AContent-Type: x"), ("a\nb", "a%0Ab"), ("ü😃", "ü😃"),
        ("a\\b", "a\\b"), ("%22", "%22"),
    ])
    func `quotation marks and line breaks in a name are percent-encoded, and cannot add a header field`(
        name: String,
        text: String
    ) throws {
        let form = MultipartFormData(boundary: "b")
        form.append([UInt8](), withName: name, fileName: name, mimeType: "x/y\r\nEvil: 1")
        let whole = String(decoding: try form.encode(), as: UTF8.self)
        #expect(whole.contains("name=\"\(text)\"; filename=\"\(text)\"\r\nContent-Type: x/yEvil: 1\r\n\r\n"))
    }

    @Test func `two forms have different boundaries`() {
        #expect(MultipartFormData().boundary != MultipartFormData().boundary)
        #expect(MultipartFormData().boundary.utf8.count == 38)
    }

    @Test(arguments: [
        ("a.txt", "text/plain"), ("a.JPG", "image/jpeg"), ("a", "application/octet-stream"),
        ("a.b.json", "application/json"), (".png", "image/png"),
    ])
    func `the content type of a file follows from its extension`(name: String, type: String) throws {
        try withFolder { folder in
            try OutputFile("\(folder)/\(name)", replacing: true).append(Array("content".utf8))
            let form = MultipartFormData(boundary: "b")
            form.append(URL(filePath: "\(folder)/\(name)"), withName: "f")
            let whole = String(decoding: try form.encode(), as: UTF8.self)
            #expect(whole.contains("filename=\"\(name)\"\r\nContent-Type: \(type)\r\n\r\ncontent\r\n--b--"))
            #expect(form.contentLength == 7)
        }
    }

    @Test func `a stream is encoded as a part, and is an error if its length is not the announced one`() throws {
        let form = MultipartFormData(boundary: "b")
        let stream = InputStream(data: Data("abc".utf8))
        form.append(stream, withLength: 3, name: "s", fileName: "s.txt", mimeType: "text/plain")
        form.append(stream, withLength: 3, headers: ["X-One": "1\r\nEvil: 1", "X-Two": "2"])
        #expect(
            String(decoding: try form.encode(), as: UTF8.self)
                == "--b\r\nContent-Disposition: form-data; name=\"s\"; filename=\"s.txt\"\r\nContent-Type: text/plain\r\n\r\nabc\r\n"
                + "--b\r\nX-One: 1Evil: 1\r\nX-Two: 2\r\n\r\nabc\r\n--b--\r\n"
        )
        form.append(stream, withLength: 4, headers: [:])
        let error = #expect(throws: AFError.self) { try form.encode() }
        let length = error?.underlyingError as? AFError.UnexpectedInputStreamLength
        #expect(length == AFError.UnexpectedInputStreamLength(bytesExpected: 4, bytesRead: 3))
    }

    @Test func `each kind of invalid file has a separate error`() throws {
        try withFolder { folder in
            let rows: [(URL, String)] = [
                (URL(filePath: "\(folder)/none"), "notReachable"), (URL(filePath: folder), "directory"),
                (URL(filePath: "/dev/null"), "notReachable"), (URL(filePath: "/"), "name"),
                (try #require(URL(string: "https://example.org/image.jpg")), "url"),
            ]
            for (url, kind) in rows {
                let form = MultipartFormData()
                form.append(url, withName: "f")
                // The first error counts.
                form.append(URL(filePath: "/nonexistent"), withName: "f")
                let error = #expect(throws: AFError.self) { try form.encode() }
                switch error {
                case .multipartEncodingFailed(.bodyPartFileNotReachableWithError(url, _)):
                    #expect(kind == "notReachable")
                case .multipartEncodingFailed(.bodyPartFileIsDirectory(url)): #expect(kind == "directory")
                case .multipartEncodingFailed(.bodyPartFilenameInvalid(url)): #expect(kind == "name")
                case .multipartEncodingFailed(.bodyPartURLInvalid(url)): #expect(kind == "url")
                default: Issue.record("\(url): \(String(describing: error))")
                }
            }
        }
    }

    @Test func `a file whose size changes after it was added is an error`() throws {
        try withFolder { folder in
            let form = MultipartFormData()
            let path = "\(folder)/f"
            try OutputFile(path, replacing: true).append([1, 2, 3])
            form.append(URL(filePath: path), withName: "f")
            for content: [UInt8] in [[1], [1, 2, 3, 4]] {
                try OutputFile(path, replacing: true).append(content)
                let error = #expect(throws: AFError.self) { try form.encode() }
                let change = error?.underlyingError as? FileSizeChanged
                #expect(change == FileSizeChanged(path: path, before: 3, now: Int64(content.count)))
                #expect(error?.isMultipartEncodingError == true)
            }
        }
    }

    @Test func `a form is written to a new file, and never replaces a file`() throws {
        try withFolder { folder in
            let form = MultipartFormData()
            try OutputFile("\(folder)/f", replacing: true).append([UInt8](repeating: 7, count: 200_000))
            form.append(URL(filePath: "\(folder)/f"), withName: "f")
            form.append(Data("one".utf8), withName: "a")
            let url = URL(filePath: "\(folder)/form")
            try form.writeEncodedData(to: url)
            #expect(try Data(contentsOf: url) == (try form.encode()))
            let again = #expect(throws: AFError.self) { try form.writeEncodedData(to: url) }
            guard case .multipartEncodingFailed(.outputStreamFileAlreadyExists(url)) = again else {
                Issue.record("\(String(describing: again))")
                return
            }
            let page = try #require(URL(string: "https://example.org/form"))
            #expect(throws: AFError.self) { try form.writeEncodedData(to: page) }
            #expect(throws: AFError.self) { try form.writeEncodedData(to: URL(filePath: "\(folder)/none/form")) }
        }
    }
}

/// Runs a closure with the path of a new directory, which is removed afterwards.
func withFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    let folder = try makeFolder()
    defer { removeFolder(folder) }
    return try await body(folder)
}

func withFolder<Value>(_ body: (String) throws -> Value) throws -> Value {
    let folder = try makeFolder()
    defer { removeFolder(folder) }
    return try body(folder)
}

private func makeFolder() throws -> String {
    let path = "\(EnvironmentVariable.value(of: "TMPDIR") ?? "/tmp")/requests-\(UInt64.random(in: .min ... .max))"
    try OwnDirectory.make(path, mode: 0o700)
    return path
}

private func removeFolder(_ path: String) {
    for name in (try? DirectoryListing.names(in: path)) ?? [] { OwnFile.remove("\(path)/\(name)") }
    rmdir(path)
}
