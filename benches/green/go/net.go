// What goes through sockets: the echo of Echo.cs, the server of the samples in Go, and net/http's.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const size = 64

func askAll(clients, servers []net.Conn, rounds int) float64 {
	start := time.Now()
	together(2*len(clients), func(me int) {
		message := make([]byte, size)
		serves := me%2 == 0
		c := clients[me/2]
		if serves {
			c = servers[me/2]
		}
		for i := 0; i < rounds; i++ {
			if !serves {
				message[0] = byte(i)
				_, err := c.Write(message)
				check(err == nil, "a message was sent")
			}
			_, err := io.ReadFull(c, message)
			check(err == nil && message[0] == byte(i), "a message came")
			if serves {
				_, err := c.Write(message)
				check(err == nil, "a message was sent")
			}
		}
	})
	return time.Since(start).Seconds()
}

func echo(connections, total int) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	check(err == nil, "a listener")
	clients, servers := make([]net.Conn, connections), make([]net.Conn, connections)
	for i := range clients {
		clients[i], err = net.Dial("tcp4", listener.Addr().String())
		check(err == nil, "a connection")
		servers[i], err = listener.Accept()
		check(err == nil, "a connection")
	}
	askAll(clients, servers, max(1, total/10/connections))
	rounds := max(1, total/connections)
	figure("echo-"+strconv.Itoa(connections), askAll(clients, servers, rounds)*1e6/float64(rounds*connections), "us")
}

var (
	hello   = answer("200 OK", "Hello, World!")
	unknown = answer("404 Not Found", "not here\n")
)

func answer(status, body string) []byte {
	return []byte(fmt.Sprintf("HTTP/1.1 %s\r\nServer: sample\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body))
}

func header(head, name string) (string, bool) {
	for _, line := range strings.Split(head, "\r\n")[1:] {
		if key, value, found := strings.Cut(line, ":"); found && strings.EqualFold(key, name) {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// Serves a connection with blocking calls, and parses as samples/http does.
func serveOne(c net.Conn) {
	defer c.Close()
	bytesOf, end := make([]byte, 1024), 0
	for {
		if head := bytes.Index(bytesOf[:end], []byte("\r\n\r\n")); head >= 0 {
			text := string(bytesOf[:head])
			line, _, _ := strings.Cut(text, "\r\n")
			words := strings.Split(line, " ")
			if len(words) != 3 || !strings.HasPrefix(words[2], "HTTP/1.") {
				return
			}
			length := 0
			if value, found := header(text, "Content-Length"); found {
				length, _ = strconv.Atoi(value)
			}
			connection, found := header(text, "Connection")
			keep := words[2] == "HTTP/1.1" && !found || found && !strings.EqualFold(connection, "close")
			if next := head + 4 + max(0, length); end >= next {
				copy(bytesOf, bytesOf[next:end])
				end -= next
				response := unknown
				if words[1] == "/plaintext" {
					response = hello
				}
				if _, err := c.Write(response); err != nil || !keep {
					return
				}
				continue
			}
		}
		if end == len(bytesOf) {
			if end >= 1<<20 {
				return
			}
			bytesOf = append(bytesOf, make([]byte, end)...)
		}
		n, err := c.Read(bytesOf[end:])
		if err != nil {
			return
		}
		end += n
	}
}

func serve(port int) {
	listener, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(port))
	check(err == nil, "a free port")
	for {
		c, err := listener.Accept()
		check(err == nil, "a connection")
		go serveOne(c)
	}
}

func serveNetHTTP(port int) {
	body := []byte("Hello, World!")
	http.HandleFunc("/plaintext", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Write(body)
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+strconv.Itoa(port), nil))
	os.Exit(1)
}
