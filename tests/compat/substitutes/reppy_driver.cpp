// Asks the C++ parser of reppy, which is in its source distribution, about URLs.
//
// Standard input has questions of three texts each: the content of a robots.txt, a user agent and a
// URL. A text is its length in decimal, a newline, and its octets. The answer to each question is a
// line: `allowed`, `blocked`, or `raises` if the parser throws.

#include <exception>
#include <iostream>
#include <string>

#include "robots.h"

namespace {

bool read_text(std::string& text) {
    std::size_t length = 0;
    if (!(std::cin >> length)) {
        return false;
    }
    std::cin.get();
    text.resize(length);
    return static_cast<bool>(std::cin.read(&text[0], static_cast<std::streamsize>(length)));
}

}  // namespace

int main() {
    std::string content, agent, url;
    while (read_text(content) && read_text(agent) && read_text(url)) {
        try {
            const Rep::Robots robots(content, "https://example.com/robots.txt");
            std::cout << (robots.allowed(url, agent) ? "allowed" : "blocked") << "\n";
        } catch (const std::exception&) {
            std::cout << "raises\n";
        }
    }
}
