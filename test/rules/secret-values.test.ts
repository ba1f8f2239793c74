import { expect, test } from 'vitest'
import { harmlessValue } from '../../src/rules/secrets/open-values.ts'

const random = 'q7Zk2LmP9xVb4Rt8Ws3Yd6Hf'
const pem = (kind: string) =>
  `-----BEGIN ${kind}-----\n${'MIIBIjANBgkqhkiG9w0BAQEFAAOC'.repeat(4)}\n-----END ${kind}-----\n`
const ssh = `ssh-ed25519 AAAA${'C3NzaC1lZDI1NTE5AAAAIKq7Zk2LmP9x'.repeat(2)}`

test.each<[key: string, value: string, why: string]>([
  // variables
  ['password', `\${DB_PASSWORD}`, 'a variable'],
  ['password', '$(DB_PASSWORD)', 'a variable'],
  ['password', `$\${DB_PASSWORD}`, 'a variable'],
  ['password', `\${A}\${B}`, 'a variable'],
  ['login', `\${USER}:\${PASSWORD}`, 'a variable'],
  ['password', `\${DB_PASSWORD:-}`, 'a variable'],
  ['authorization', `Bearer \${TOKEN}`, 'a variable'],
  ['password', '{{ .password }}', 'a variable'],
  // what is filled in later
  ['password', '<placeholder>', 'a placeholder'],
  ['password', '<your password here>', 'a placeholder'],
  ['password', 'REPLACE_ME', 'a placeholder'],
  ['password', 'xxx', 'a placeholder'],
  ['token', '***', 'a placeholder'],
  ['token', 'YOUR_API_TOKEN', 'a placeholder'],
  ['token', 'vault:secret/data/app#token', 'a placeholder'],
  ['token', `\${TOKEN:=REPLACE_ME}`, 'a placeholder'],
  // what is public
  ['tls.crt', pem('CERTIFICATE'), 'a public key or certificate'],
  ['ca.crt', `# our own\n${pem('CERTIFICATE')}${pem('CERTIFICATE')}`, 'a public key or certificate'],
  ['key', pem('PUBLIC KEY'), 'a public key or certificate'],
  ['identity.pub', `${ssh} flux`, 'a public key or certificate'],
  ['known_hosts', `# github\ngithub.com ${ssh}\n[git.acme.io]:2222,10.0.0.1 ${ssh}\n`, 'a public key or certificate'],
  // settings
  ['host', 'db.acme.svc.cluster.local', 'a setting'],
  ['DB_PORT', '5432', 'a setting'],
  ['database', 'orders', 'a setting'],
  ['username', 'admin', 'a setting'],
  ['POSTGRES_USER', 'app', 'a setting'],
  ['sidecarImage', 'ghcr.io/acme/side:1.2.3', 'a setting'],
  ['SIDECAR_IMAGE', `ghcr.io/acme/side:v1@sha256:${'0123456789abcdef'.repeat(4)}`, 'a setting'],
  ['PASSWORD_FILE', '/run/secrets/db', 'a setting'],
  ['TOKEN_URL', 'https://login.acme.io/oauth2/token', 'a setting'],
  ['AZURE_CLIENT_ID', '3b241101-e2bb-4255-8caf-4136c566a962', 'a setting'],
  ['DATABASE_URL', 'postgres://db.acme.io:5432/orders', 'a setting'],
  ['DATABASE_URL', `postgres://app:\${PASSWORD}@db/orders`, 'a setting'],
  ['grafana', 'https://grafana.acme.io', 'a setting'],
  ['debugging', 'true', 'a setting'],
  ['USE_WORKLOAD_IDENTITY_AUTH', 'true', 'a setting'],
  ['SYNC_INTERVAL_MAX', '1h', 'a setting'],
  ['MAX_CONCURRENT_RECONCILES', '1', 'a setting'],
  ['address', 'http://alertmanager.monitoring.svc:9093/api/v2/alerts', 'a setting'],
  // files
  [
    'values.yaml',
    'replicas: 2\nresources:\n  limits: {cpu: 2}\nauth:\n  existingSecret: login\n',
    'a file of settings',
  ],
  ['config', `[server]\nhost = db\npassword = \${PASSWORD}\n`, 'a file of settings'],
  ['.env', `LOG_LEVEL=info\nDB_HOST=db\nDB_PASSWORD="\${DB_PASSWORD}"\n`, 'a file of settings'],
  ['jcasc.yaml', `login:\n  clientSecret: "\${google-oauth-client-secret}"\n`, 'a file of settings'],
  [
    'agent.yaml',
    'opts: -XX:+UseContainerSupport -XX:InitialRAMPercentage=20.0 -XX:MaxDirectMemorySize=32m\n',
    'a file of settings',
  ],
  ['values.yaml', `caBundle: |\n${pem('CERTIFICATE')}`, 'a file of settings'],
])('%s: %j is %s', (key, value, why) => {
  expect(harmlessValue(key, value)).toBe(why)
})

test.each<[key: string, value: string]>([
  ['password', 'hunter2'],
  ['password', 'changeme'],
  ['password', 'x'],
  ['password', `\${DB_PASSWORD:=hunter2}`],
  ['password', `\${DB_PASSWORD:-hunter2}`],
  ['password', `hunter2\${X}`],
  ['password', '$(A)hunter2'],
  ['password', 'hunter2\n'],
  ['pin', '1234'],
  ['a', 'b'],
  ['value', 'hunter2'],
  ['adminPassword', 'admin'],
  ['API_KEY', 'abc'],
  ['token', 'true'],
  // a harmless name is no proof
  ['username', random],
  ['host', `${random}.acme.io`],
  ['url', 'postgres://app:hunter2@db/app'],
  ['url', 'https://acme.io/hook?token=hunter2'],
  ['url', `https://hooks.acme.io/${random}`],
  ['webhook-url', 'https://acme.io/a'],
  ['DATABASE_URL', 'mysql://root:changeme@db'],
  ['AWS_ACCESS_KEY_ID', 'AKIAIOSFODNN7EXAMPLF'],
  ['image', 'ghp_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6'],
  // what protects a login by a hash can be guessed at home
  ['auth', 'admin:$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC'],
  ['.dockerconfigjson', '{"auths":{"ghcr.io":{"auth":"YWRhOmh1bnRlcjI="}}}'],
  ['.dockerconfigjson', '{}'],
  // private parts beside public ones
  ['tls.key', pem('PRIVATE KEY')],
  ['tls.crt', pem('CERTIFICATE') + pem('RSA PRIVATE KEY')],
  ['known_hosts', `github.com ${ssh}\nhunter2\n`],
  // files
  ['values.yaml', 'replicas: 2\nauth:\n  password: hunter2\n'],
  ['values.yaml', 'replicas: 2\nauth: {rootPassword: hunter2}\n'],
  ['values.yaml', `database: postgres://app:hunter2@db\n`],
  ['values.yaml', `a: ${random}\n`],
  ['config.json', '{"db": {"host": "db", "password": "hun ter2"}}'],
  ['redis.conf', 'port 6379\nrequirepass hunter2\n'],
  ['.env', 'A=hunter2\n'],
  ['prod.env', 'DB_HOST=db\nDB_PASSWORD=hunter2\n'],
  ['config', 'one\ntwo hunter2\n'],
  ['kubeconfig.yaml', 'clusters: []\nusers: []\n'],
  ['value', '{"clusters": [], "users": [{"user": {"exec": {"command": "sh"}}}]}'],
  ['config.yaml', 'users: [{name: u, user: {token: abc}}]\n'],
  ['address', 'http://10.0.0.1/x'],
  ['grafana', 'https://grafana.acme.io/x7Kp9'],
  ['apiKey', 'true'],
  ['notes', 'first line\nhunter2'],
  ['values.yaml', 'a: 1\nb: ENC[AES256_GCM,data:x]\n'],
])('%s: %j is a secret', (key, value) => {
  expect(harmlessValue(key, value)).toBeUndefined()
})

test('what looks at values takes time in proportion to them', () => {
  const texts = [
    'a'.repeat(500_000),
    '${'.repeat(200_000),
    'a='.repeat(200_000),
    `${'-----BEGIN CERTIFICATE-----\n'.repeat(20_000)}`,
    '://'.repeat(150_000),
    'a\n'.repeat(200_000),
    'a-'.repeat(200_000),
    '<'.repeat(400_000),
    `x://${'a:'.repeat(200_000)}`,
  ]
  for (const text of texts) for (const key of ['values.yaml', 'config', 'username', '.env']) harmlessValue(key, text)
})
