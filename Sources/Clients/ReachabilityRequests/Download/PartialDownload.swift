import AsyncHTTPClient
import FoundationEssentials
import LinuxSupport
import NIOCore
import ReachabilityRetry

/// The file `NAME.part` beside the place of a download, and `NAME.part.json` with its URL and validator. It is locked: of two downloads to
/// one place, in one process or in two, the second is refused.
///
/// One task at a time uses it.
final class PartialDownload: Sendable {
    struct State {
        /// The number of bytes that the part has.
        var size: Int64 = 0
        /// The URL and the validator; nil if the part cannot be continued.
        var known: ResumeData?
        /// The number of received bytes, including those that were received again.
        var received: Int64 = 0
        /// The offset that the attempts in progress request; nil for the whole file.
        var offset: Int64?
        /// The progress for observers.
        var progress = Progress()

        mutating func count(restart reason: String) {
            progress.restarts += 1
            progress.restartReason = reason
        }
    }

    /// The number of bytes after which the rest is requested at once.
    private static let goodPiece: Int64 = 64 << 10

    /// The file is written to the disk at each multiple of this size, so that a power cut loses at most this much.
    static let syncedPiece: Int64 = 64 << 20

    let destination: String
    private let url: String
    /// A Boolean value that indicates whether an answer of any status becomes the file.
    private let takesAnyStatus: Bool
    /// The identity of this start of the machine.
    private let boot: String?
    private let file: PartialFile
    private let state = Locked(State())
    private let report: @Sendable (Progress) -> Void

    private var path: String { Self.path(of: destination) }
    private var notePath: String { "\(path).json" }

    /// Opens an existing part of this URL, or begins a new one.
    init(
        _ destination: String,
        url: String,
        isResuming: Bool,
        takesAnyStatus: Bool = false,
        boot: String? = ResumeData.currentBoot,
        report: @escaping @Sendable (Progress) -> Void
    ) throws(AFError) {
        self.destination = destination
        self.url = ResumeData.plain(url)
        self.takesAnyStatus = takesAnyStatus
        self.boot = boot
        self.report = report
        do throws(SystemError) {
            file = try Self.open(Self.path(of: destination))
        } catch {
            throw error == .tryAgain
                ? .sessionTaskFailed(error: DownloadFailure.busy(path: destination))
                : .failed(error, at: Self.path(of: destination))
        }
        if isResuming, let text = TextFile.read(notePath, limit: 1 << 16),
            let known = try? JSONDecoder().decode(ResumeData.self, from: Data(text.utf8)), known.url == self.url
        {
            let found = try during { () throws(SystemError) in try file.size() }
            let size = known.boot == nil || known.boot == boot ? found : Self.synced(of: found)
            if size > 0, found <= known.total ?? .max { state.withLock { ($0.size, $0.known) = (size, known) } }
            // The part now belongs to this start of the machine.
            if size < found, self.size > 0 { try note(known) }
        }
        guard size == 0 else { return }
        if isResuming, try during({ () throws(SystemError) in try file.size() }) > 0 {
            state.withLock { $0.count(restart: "the existing part is not known to belong to it") }
        }
        try startOver()
    }

    /// Opens the file and takes its lock. The download that had the lock until now may have removed or renamed the file in between.
    private static func open(_ path: String) throws(SystemError) -> PartialFile {
        for _ in 0..<10 {
            let file = try PartialFile(path, isNew: false)
            try file.lock()
            if file.isNamed(path) { return file }
        }
        throw .tryAgain
    }

    /// Returns the number of bytes of a part of this size that are certainly on the disk after the machine has stopped.
    static func synced(of size: Int64) -> Int64 { max(0, size - 1) / syncedPiece * syncedPiece }

    private static func path(of destination: String) -> String { "\(destination).part" }

    /// The number of bytes that the part has.
    var size: Int64 { state.withLock { $0.size } }
    /// The number of received bytes.
    var received: Int64 { state.withLock { $0.received } }
    /// A Boolean value that indicates whether the part can be continued.
    var isResumable: Bool { state.withLock { $0.known != nil && $0.size > 0 } }

    /// A Boolean value that indicates whether the part has not become the file.
    var isNamed: Bool { file.isNamed(path) }

    /// Deletes the part.
    ///
    /// - Parameter reason: The reason for observers, if the file is requested again.
    func startOver(because reason: String? = nil) throws(AFError) {
        OwnFile.remove(notePath)
        state.withLock { state in
            if let reason, state.size > 0 { state.count(restart: reason) }
            (state.size, state.known) = (0, nil)
        }
        try during { () throws(SystemError) in try file.setSize(0) }
    }

    /// The reason why an answer with the whole file starts the download over; nil if only a small piece is received again.
    private var restartReason: String? {
        state.withLock { state in
            if state.offset != nil {
                return "the server sends the whole file: the file has changed, or the server does not send parts"
            }
            return state.known == nil ? "the server does not identify versions of the file" : nil
        }
    }

    /// Records that an attempt begins, or a wait for the network.
    func wait(_ isWaiting: Bool) {
        guard state.withLock({ $0.progress.isWaitingForNetwork }) != isWaiting else { return }
        change { $0.progress.isWaitingForNetwork = isWaiting }
    }

    /// Changes the state, and reports the progress. Under the lock, so that it is reported in order.
    private func change(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            report(state.progress)
        }
    }

    /// Returns the request of the rest of the file, or of the whole file (RFC 9110, sections 13.1.5 and 14.2).
    func requestingRest(in request: URLRequest) -> URLRequest {
        var request = request
        // A part of a file with a content coding is not a part of the file.
        request.headers.add(.acceptEncoding("identity"))
        request.headers.remove(name: "Range")
        state.withLock { state in
            state.offset = nil
            guard let known = state.known, state.size > 0 else { return }
            state.offset = state.size
            request.headers.add(name: "Range", value: "bytes=\(state.size)-")
            request.headers.add(name: "If-Range", value: known.validator)
        }
        return request
    }

    /// Returns the decision about an answer.
    func decision(on head: HTTPURLResponse) -> ResumeDecision {
        let (offset, known) = state.withLock { ($0.offset, $0.known) }
        let decision = ResumeDecision(head, askedFrom: offset, of: known)
        let isAnswer = !(300..<400).contains(head.statusCode)
        return takesAnyStatus && isAnswer && decision == .refuse ? .write(at: 0, total: head.contentLength) : decision
    }

    /// Writes a body from an offset on. If it breaks off after a large piece, the attempt ends, and the next one requests the rest. A small
    /// piece may be received again.
    func take(
        _ body: HTTPClientResponse.Body,
        _ head: HTTPURLResponse,
        at start: Int64,
        total: Int64?,
        through gate: Gate
    ) async throws {
        if head.statusCode != 206 {
            try startOver(because: restartReason)
            let known = head.contentEncoding == nil ? ResumeData(url: url, head) : nil
            try note(known)
        }
        try during { () throws(SystemError) in try file.setSize(start) }
        state.withLock { $0.size = start }
        var place = start
        change { state in
            state.progress.isWaitingForNetwork = false
            (state.progress.completedUnitCount, state.progress.totalUnitCount) = (start, total ?? -1)
        }
        do {
            for try await part in body {
                await gate.pass()
                try Task.checkCancellation()
                place = try write(part, at: place, of: total)
            }
        } catch  where !(error is AFError || error is DownloadFailure) {
            // Also for an attempt that was cut because its address is gone. A cancellation of the download was thrown above.
            throw place - start >= Self.goodPiece && isResumable ? DownloadFailure.connectionBroken(error) : error
        }
        if let total, place < total { throw DownloadFailure.tooShort(place, of: total) }
    }

    /// Returns the offset of the next piece.
    private func write(_ part: ByteBuffer, at place: Int64, of total: Int64?) throws -> Int64 {
        let end = place + Int64(part.readableBytes)
        if let total, end > total {
            try startOver()
            throw DownloadFailure.tooLong(total)
        }
        try during { () throws(SystemError) in
            var (place, rest) = (place, part)
            while rest.readableBytes > 0 {
                if place > 0, place % Self.syncedPiece == 0 { try file.sync() }
                let room = Int(Self.syncedPiece - place % Self.syncedPiece)
                guard let piece = rest.readSlice(length: min(rest.readableBytes, room)) else { break }
                try file.write(piece.readableBytesView, at: place)
                place += Int64(piece.readableBytes)
            }
        }
        change { state in
            state.size = end
            state.received += end - place
            state.progress.completedUnitCount = end
        }
        return end
    }

    /// Runs the validations that were added after the answer came. A rejected file is deleted.
    func check(_ answer: Answer, of request: URLRequest, by validator: Validator) throws(AFError) {
        guard let head = answer.response,
            let refusal = validator.refusal(request, head, nil, after: answer.checkCount)
        else { return }
        try startOver()
        throw refusal
    }

    /// Checks the complete file before it gets its name. A rejected file is deleted.
    func check(by check: FileValidation) async throws(AFError) {
        do {
            try await check(path)
        } catch {
            if Task.isCancelled { throw .explicitlyCancelled }
            try startOver()
            throw error.asAFError(or: .responseValidationFailed(reason: .customValidationFailed(error: error)))
        }
    }

    /// Gives the complete file its name. It keeps it after a power cut.
    func finish(replacing: Bool) throws(AFError) {
        do throws(SystemError) {
            try file.setUsualMode()
            try file.sync()
            try FileName.move(path, to: destination, replacing: replacing)
            OwnFile.remove(notePath)
            try FileName.syncDirectory(of: destination)
        } catch {
            throw .downloadedFileMoveFailed(
                error: error,
                source: URL(filePath: path),
                destination: URL(filePath: destination)
            )
        }
    }

    /// Unlocks the file, so that the next download to the same place can begin. A part that cannot be continued is deleted.
    func leave(keepingPart: Bool = true) {
        if !(isResumable && keepingPart), isNamed {
            OwnFile.remove(notePath)
            OwnFile.remove(path)
        }
        // Not when this object is released, because a task that ends later may keep it.
        file.unlock()
    }

    /// Writes the URL and the validator, before the first byte of the file.
    private func note(_ known: ResumeData?) throws(AFError) {
        guard var known else { return }
        known.boot = boot
        guard let text = try? JSONEncoder().encode(known) else { return }
        OwnFile.remove(notePath)
        try during { () throws(SystemError) in
            let note = try PartialFile(notePath, isNew: true)
            try note.write(text, at: 0)
            try note.sync()
            try FileName.syncDirectory(of: notePath)
        }
        state.withLock { $0.known = known }
    }

    private func during<Value>(_ work: () throws(SystemError) -> Value) throws(AFError) -> Value {
        do throws(SystemError) { return try work() } catch { throw .failed(error, at: path) }
    }
}

extension AFError {
    static func failed(_ error: SystemError, at path: String) -> AFError {
        .sessionTaskFailed(error: DownloadFailure.notWritten(path: path, error))
    }
}

/// The URL and the validator of a part, with which its rest can be requested. It contains no credentials.
package struct ResumeData: Codable, Hashable, Sendable {
    /// The URL without user name, password and fragment.
    let url: String
    /// The strong entity tag (RFC 9110, section 8.8.3), or the date of the last change if that is a strong validator.
    let validator: String
    /// The length of the whole file in bytes; nil if it is not known.
    let total: Int64?
    /// The start of the machine in which the part was written (`boot_id` of random(4)); nil if it is not known. After another start only
    /// the bytes that were written to the disk are certain.
    var boot: String?

    /// Creates the record of a part.
    init(url: String, validator: String, total: Int64?) {
        self.url = url
        self.validator = validator
        self.total = total
    }

    /// The identity of this start of the machine; nil if it is not known.
    static let currentBoot = SystemClock.bootIdentifier

    /// Creates the part of an answer with the whole file; nil if it cannot be continued.
    ///
    /// A weak entity tag identifies equivalent files, not equal ones. A date is strong if the Date of the answer is at least a minute
    /// later (RFC 9110, section 8.8.2.2).
    init?(url: String, _ head: HTTPURLResponse) {
        guard let validator = Self.validator(of: head) else { return nil }
        self.init(url: Self.plain(url), validator: validator, total: head.total)
    }

    static func validator(of head: HTTPURLResponse) -> String? {
        if let tag = head.headers["ETag"] {
            // Of several fields none is the tag of the file. They are joined to a list.
            return tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.utf8.count { $0 == UInt8(ascii: "\"") } == 2
                ? tag : nil
        }
        let now = SystemClock.real.components.seconds
        guard let changed = head.headers["Last-Modified"], let date = head.headers["Date"],
            let changedTime = HTTPDate.secondsSince1970(changed, now: now),
            let dateTime = HTTPDate.secondsSince1970(date, now: now),
            dateTime >= changedTime + 60
        else { return nil }
        return changed
    }

    /// Returns the URL without user name, password and fragment.
    package static func plain(_ url: String) -> String {
        let url = url.prefix { $0 != "#" }
        guard let start = url.firstRange(of: "://")?.upperBound else { return String(url) }
        let end = url[start...].unicodeScalars.firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex
        guard let at = url[start..<end].unicodeScalars.lastIndex(of: "@") else { return String(url) }
        return String(url[..<start] + url[url.unicodeScalars.index(after: at)...])
    }

    /// Returns whether a part belongs to the same version of the file: it has the same strong validator (RFC 9110, section 15.3.7.3). A
    /// server that ignores If-Range could send a part of another version.
    func isValidator(of part: HTTPURLResponse) -> Bool {
        isValidator(part.headers[validator.hasPrefix("\"") ? "ETag" : "Last-Modified"])
    }

    /// Compares bytes, because texts of different bytes may be equal.
    private func isValidator(_ field: String?) -> Bool { field?.utf8.elementsEqual(validator.utf8) ?? false }

    /// Returns whether a response without content may belong to the same version. It need not repeat the validator.
    func mayBeValidator(of head: HTTPURLResponse) -> Bool {
        if let tag = head.headers["ETag"], validator.hasPrefix("\"") { return isValidator(tag) }
        if let changed = head.headers["Last-Modified"], !validator.hasPrefix("\"") { return isValidator(changed) }
        return true
    }
}

extension HTTPURLResponse {
    /// The length of the whole file in bytes; nil if the answer does not contain it.
    var total: Int64? {
        if let range = headers["Content-Range"].flatMap(ContentRange.init) {
            switch range {
            case .part(_, _, let total): return total
            case .unsatisfied(let total): return total
            }
        }
        return contentLength
    }
}
