const LINE = 70

/** Base64 as kustomize writes it into a Secret: in lines of 70 characters, each with its end, where one is not enough. */
export function encodeBase64(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  if (text.length < LINE) return text
  let folded = ''
  for (let start = 0; start < text.length; start += LINE) folded += `${text.slice(start, start + LINE)}\n`
  return folded
}
