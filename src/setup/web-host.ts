/** Where people meet the GitHub whose API is at `apiUrl`: github.com, a tenant of ghe.com, an Enterprise Server. */
export function webHost(apiUrl: string): string {
  const url = new URL(apiUrl)
  if (url.hostname === 'api.github.com' || /^api\.[a-z\d-]+\.ghe\.com$/.test(url.hostname)) {
    return `${url.protocol}//${url.host.slice('api.'.length)}`
  }
  // an Enterprise Server has its API below /api/v3 of the same host
  return url.origin
}
