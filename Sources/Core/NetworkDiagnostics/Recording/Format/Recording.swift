/// A recording as it was read: everything up to its end, or to where it is damaged.
package struct Recording: Sendable {
    /// Why the rest of a file was not read.
    package struct Damage: Hashable, Sendable {
        /// Bytes from the beginning of the file to the record that is damaged.
        package var offset: Int
        package var cause: String
    }

    /// Why a file is no recording at all.
    package enum Failure: Error, Hashable, Sendable {
        case notARecording
        case unknownVersion(UInt8)
        case damagedHead
    }

    package var header: RecordingHeader
    package var records: [Record] = []
    /// Nil for a recording that is whole.
    package var damage: Damage?

    package init(_ bytes: [UInt8]) throws(Failure) {
        let magic = RecordingEncoder.magic
        guard bytes.starts(with: magic), bytes.count > magic.count else { throw .notARecording }
        guard bytes[magic.count] == RecordingEncoder.version else { throw .unknownVersion(bytes[magic.count]) }
        var frames = RecordingFrames(bytes[(magic.count + 1)...])
        guard case .success((.header, let payload))? = frames.next() else { throw .damagedHead }
        do throws(ByteDecoder.Malformed) {
            var decoder = ByteDecoder(payload)
            header = try RecordingHeader(from: &decoder)
        } catch {
            throw .damagedHead
        }
        read(&frames)
    }

    private mutating func read(_ frames: inout RecordingFrames) {
        var previous = header.start.monotonic
        while true {
            let offset = frames.offset
            switch frames.next() {
            case nil:
                damage = Damage(offset: offset, cause: "it ends before it was finished")
                return
            case .failure(let error):
                damage = Damage(offset: offset, cause: error.description)
                return
            case .success(let (kind, payload)):
                var decoder = ByteDecoder(payload)
                do throws(ByteDecoder.Malformed) {
                    let record = try Record(kind, from: &decoder, after: previous)
                    previous = record.time
                    records.append(record)
                } catch {
                    damage = Damage(offset: offset, cause: "the record there makes no sense")
                    return
                }
                if case .end = records.last?.content { return }
            }
        }
    }
}

extension Recording {
    /// The bytes of a file with the same content. One that is damaged becomes one that ends early.
    package var bytes: [UInt8] {
        var encoder = RecordingEncoder(header)
        return records.reduce(into: RecordingEncoder.head(header)) { $0 += encoder.frame($1) }
    }
}

extension Recording.Failure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notARecording: "it is no recording"
        case .unknownVersion(let version): "it has format version \(version), and this command knows version 1 only"
        case .damagedHead: "its head is damaged"
        }
    }
}
