const NEWLINE = 0x0a

/** The lines of a stream, as bytes decoded line by line: only a line feed ends one, whatever else stands in a JSON text. */
export async function* readLines(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  let started: Uint8Array[] = []
  for await (const part of stream) {
    const chunk = typeof part === 'string' ? Buffer.from(part) : part
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      yield Buffer.concat([...started, chunk.subarray(from, end)]).toString()
      started = []
      from = end + 1
    }
    if (from < chunk.length) started.push(chunk.subarray(from))
  }
  if (started.length > 0) yield Buffer.concat(started).toString()
}
