/** The address of a line at a commit on GitHub; undefined for a repository that is not on the web. */
export function fileAddress(url: string, commit: string, file: string, line: number): string | undefined {
  if (!isAddress(url) || !/^[\da-f]{40,64}$/.test(commit)) return undefined
  const path = file.split('/').map(encode).join('/')
  return `${url}/blob/${commit}/${path}${line > 0 ? `#L${line}` : ''}`
}

/** Half of a surrogate pair cannot be encoded; git may have it in a name all the same. */
function encode(part: string): string {
  return encodeURIComponent(part.toWellFormed())
}

/** Sources are named by whoever writes them: a link leads to the web or nowhere. */
export function isAddress(url: string): boolean {
  return /^https:\/\/[\w.-]+(?::\d{1,5})?(?:\/[\w.~-]+)+$/.test(url)
}
