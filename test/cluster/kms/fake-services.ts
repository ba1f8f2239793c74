import { createHash, createHmac, createVerify, generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as it reached a service, which is known by its host. */
export interface Asked {
  readonly method: string
  readonly host: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Said {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: string
  /** The connection ends within the answer. */
  readonly cut?: boolean
  /** The connection stays open and nothing more comes: before the answer, or within it. */
  readonly hang?: 'before' | 'within'
}

/** A server on this machine to which every address leads: `/<host>/<path>`. */
export async function startServices(answer: (asked: Asked) => Said) {
  const asked: Asked[] = []
  const server = createServer((request, response) => void serve(request, response, answer, asked))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    asked,
    reach: (url: URL) => new URL(`http://127.0.0.1:${port}/${url.host}${url.pathname}${url.search}`),
    stop: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (asked: Asked) => Said,
  asked: Asked[],
): Promise<void> {
  let body = ''
  for await (const chunk of request) body += chunk
  const [, host = '', path = ''] = /^\/([^/]+)(\/.*)$/.exec(request.url ?? '') ?? []
  const one = {
    method: request.method ?? '',
    host,
    path,
    headers: request.headers as Record<string, string>,
    body,
  }
  asked.push(one)
  const { status = 200, headers = {}, body: said = '', cut = false, hang } = answer(one)
  if (hang === 'before') return
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(said) + (cut || hang ? 1 : 0) })
  response.write(said)
  if (cut) response.destroy()
  else if (!hang) response.end()
}

/** As AWS checks a request: the signature is made again from what arrived, in the order of the documentation. */
export function isSignedFor(
  { method, host, headers, body }: Asked,
  secret: string,
  [region, service]: readonly [string, string],
): boolean {
  const [, scope = '', names = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? []
  const [day] = scope.split('/')
  if (scope !== `${day}/${region}/${service}/aws4_request`) return false
  for (const needed of ['host', 'x-amz-date', 'x-amz-target', 'content-type'])
    if (!names.split(';').includes(needed)) return false
  const lines = names.split(';').map(name => `${name}:${name === 'host' ? host : headers[name]}\n`)
  const sha = (text: string) => createHash('sha256').update(text).digest('hex')
  const canonical = `${method}\n/\n\n${lines.join('')}\n${names}\n${sha(body)}`
  const text = `AWS4-HMAC-SHA256\n${headers['x-amz-date']}\n${scope}\n${sha(canonical)}`
  const mac = (key: string | Buffer, part: string) => createHmac('sha256', key).update(part).digest()
  const key = mac(mac(mac(mac(`AWS4${secret}`, day!), region), service), 'aws4_request')
  return mac(key, text).toString('hex') === signature
}

const PAIR = generateKeyPairSync('rsa', { modulusLength: 2048 })

/** What Google gives for a service account, and a check of what is signed with it. */
export const SERVICE_ACCOUNT = JSON.stringify({
  type: 'service_account',
  client_email: 'worker@acme.iam.gserviceaccount.com',
  private_key_id: 'k1',
  private_key: PAIR.privateKey.export({ type: 'pkcs8', format: 'pem' }),
  // never called: a file of the operator, but not an address
  token_uri: 'https://evil.example.com/token',
})

export function claimsOf(jwt: string): unknown {
  const [header = '', claims = '', signature = ''] = jwt.split('.')
  const isSigned = createVerify('RSA-SHA256')
    .update(`${header}.${claims}`)
    .verify(PAIR.publicKey, Buffer.from(signature, 'base64url'))
  const open = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object
  return isSigned ? { ...open(header), ...open(claims) } : undefined
}
