FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# no scripts: the image's own Node builds
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY LICENSE README.md SKILL.md app.yml tsconfig.json ./
COPY build ./build
COPY src ./src
COPY workers ./workers
RUN npm run build

FROM node:24-slim
ENV NODE_ENV=production NODE_OPTIONS=--enable-source-maps
WORKDIR /app
COPY --from=build /app/dist ./dist

RUN mkdir -p /var/cache/bailiwick && chown node:node /var/cache/bailiwick
USER node
EXPOSE 3000
HEALTHCHECK CMD ["node", "dist/probe.js", "http://127.0.0.1:3000/readyz"]
CMD ["node", "dist/web.js"]
