import FoundationEssentials
import Glibc
import LinuxSupport
import Testing

@testable import ReachabilityRequests

/// What Alamofire's tests expect of forms. Different on purpose: names are escaped, a file that changes is an error.
struct MultipartTests {
    @Test func `parts are framed, and the length is known`() throws {
        var form = MultipartFormData(boundary: "b")
        #expect(form.contentType == "multipart/form-data; boundary=b")
        #expect(String(decoding: try form.encode(), as: UTF8.self) == "--b--\r\n" && form.contentLength == 7)
        form.append(Data("one".utf8), withName: "a")
        form.append(Data("two".utf8), withName: "c", fileName: "d.txt", mimeType: "text/plain")
        let text = String(decoding: try form.encode(), as: UTF8.self)
        #expect(
            text
                == "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n--b\r\nContent-Disposition: form-data; name=\"c\"; "
                + "filename=\"d.txt\"\r\nContent-Type: text/plain\r\n\r\ntwo\r\n--b--\r\n"
        )
        #expect(form.contentLength == Int64(text.utf8.count))
    }

    @Test(arguments: [
        ("a\"b", "a%22b"), ("a\r\nContent-Type: x", "a%0D%0AContent-Type: x"), ("a\nb", "a%0Ab"), ("ü😃", "ü😃"),
        ("a\\b", "a\\b"), ("%22", "%22"),
    ])
    func `no name adds a header`(name: String, text: String) throws {
        var form = MultipartFormData(boundary: "b")
        form.append([UInt8](), withName: name, fileName: name, mimeType: "x/y\r\nEvil: 1")
        let whole = String(decoding: try form.encode(), as: UTF8.self)
        #expect(whole.contains("name=\"\(text)\"; filename=\"\(text)\"\r\nContent-Type: x/yEvil: 1\r\n\r\n"))
    }

    @Test func `two boundaries differ`() {
        #expect(MultipartFormData().boundary != MultipartFormData().boundary)
        #expect(MultipartFormData().boundary.utf8.count == 38)
    }

    @Test(arguments: [
        ("a.txt", "text/plain"), ("a.JPG", "image/jpeg"), ("a", "application/octet-stream"),
        ("a.b.json", "application/json"), (".png", "image/png"),
    ])
    func `files have a type by their ending`(name: String, type: String) throws {
        try withFolder { folder in
            try OutputFile("\(folder)/\(name)", replacing: true).append(Array("content".utf8))
            var form = MultipartFormData(boundary: "b")
            try form.append(fileAt: "\(folder)/\(name)", withName: "f")
            let whole = String(decoding: try form.encode(), as: UTF8.self)
            #expect(whole.contains("filename=\"\(name)\"\r\nContent-Type: \(type)\r\n\r\ncontent\r\n--b--"))
            #expect(form.contentLength == Int64(whole.utf8.count))
        }
    }

    @Test func `what is no file, or changes, or is too long, is refused`() throws {
        try withFolder { folder in
            var form = MultipartFormData()
            for path in ["\(folder)/none", folder, "/dev/null"] {
                #expect(throws: AFError.self, "\(path)") { try form.append(fileAt: path, withName: "f") }
            }
            let path = "\(folder)/f"
            try OutputFile(path, replacing: true).append([1, 2, 3])
            try form.append(fileAt: path, withName: "f")
            #expect(throws: AFError.self) { try form.encode(limit: 10) }
            for content: [UInt8] in [[1], [1, 2, 3, 4]] {
                try OutputFile(path, replacing: true).append(content)
                let error = #expect(throws: AFError.self) { try form.encode() }
                let change = error?.underlyingError as? FileSizeChanged
                #expect(change == FileSizeChanged(path: path, before: 3, now: Int64(content.count)))
                #expect(error?.isMultipartEncodingError == true)
            }
        }
    }
}

/// A folder that is removed afterwards.
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
